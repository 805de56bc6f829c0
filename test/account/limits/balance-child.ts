// A process that spends a shared balance and fills it up, as fast as it can, for the test that runs
// several of them on one file. It begins when all of them are there.
//
//   balance-child.js FILE PROCESSES MILLISECONDS
//
// Its output: how many it has spent, how many it has booked, and how often it was too late.

import {
  balanceWords,
  applyRefill,
  claimRefill,
  spendBalance,
} from '../../../src/account/limits/local-balance.ts'
import { noBalance } from '../../../src/account/limits/local-balance.ts'
import { machineOffsetMs } from '../../../src/base/system/clock.ts'
import { mapSharedFile } from '../../../src/base/system/memory-map.ts'

const [file = '', processes = '', milliseconds = ''] = process.argv.slice(2)
const { buffer, byteOffset, length } = mapSharedFile(file, 4096).bytes
const memory = balanceWords(new Int32Array(buffer, byteOffset, length / 4))
const index = 16
/** Counts who is there. */
const startIndex = 512
const offset = machineOffsetMs()
const told = { spent: 0, booked: 0, late: 0 }
Atomics.add(memory.words, startIndex, 1)
const nap = new Int32Array(new SharedArrayBuffer(4))
while (Atomics.load(memory.words, startIndex) < Number(processes)) Atomics.wait(nap, 0, 0, 1)
let nowMs = performance.now() + offset
const untilMs = nowMs + Number(milliseconds)
while (nowMs < untilMs) {
  for (let i = 0; i < 50; i += 1) {
    if (spendBalance(memory.words, index, 1, 25) !== noBalance) told.spent += 1
  }
  nowMs = performance.now() + offset
  const claim = claimRefill(memory.words, index, nowMs)
  if (claim === 0) continue
  const granted = 1 + (told.spent % 97)
  const answer = { claim, granted, most: 0x4000_0000, machineMs: nowMs, pauseMs: 0 }
  if (applyRefill(memory, index, answer)) told.booked += granted
  else told.late += 1
}
process.stdout.write(JSON.stringify(told))
