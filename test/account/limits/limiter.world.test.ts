// Limits among real processes on one state folder: four of them hammer one rate limit; others spend
// one quota and are killed with SIGKILL, one at a time and all at once. What they were granted is
// counted outside of them and held against the ledger. IPRISK_KILL_RUNS asks for more kills.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newRandom } from '../../../bench/harness/random.ts'
import { machineOffsetMs } from '../../../src/base/system/clock.ts'
import { mapSharedFile } from '../../../src/base/system/memory-map.ts'
import { createQuotaLedger } from '../../../src/account/limits/quota-ledger.ts'
import { openLmdbCounterStore } from '../../../src/account/stores/lmdb/lmdb-stores.ts'
import { monthOf } from '../../../src/account/limits/quota-period.ts'
import { removeFolder } from '../../remove-folder.ts'

const kills = Number(process.env['IPRISK_KILL_RUNS'] ?? 12)
const child = fileURLToPath(
  new URL('../../../dist/test/account/limits/worker-child.js', import.meta.url),
)
const workers = 4
const countsBytes = 4096
let state = ''
let counts = ''
let children: ChildProcess[] = []

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'iprisk-limits-'))
  counts = join(state, 'counts')
  writeFileSync(counts, Buffer.alloc(countsBytes))
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children = []
  removeFolder(state)
})

function start(mode: string, ...rest: readonly number[]): ChildProcess {
  const started = spawn(process.execPath, [child, mode, state, counts, ...rest.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(started)
  return started
}

const ended = (child: ChildProcess): Promise<string> => {
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return new Promise((resolve) => {
    child.once('close', () => resolve(output))
  })
}

interface Hammered {
  readonly firstMs: number
  readonly lastMs: number
  readonly granted: number
  readonly asked: number
}

describe('a rate limit among four processes', () => {
  it.each([
    { perSecond: 100_000, burst: 20_000 },
    { perSecond: 50, burst: 100 },
  ])('holds at $perSecond/s, burst $burst', async ({ perSecond, burst }) => {
    const untilMs = performance.now() + machineOffsetMs() + 4000
    const outputs = await Promise.all(
      Array.from({ length: workers }, () => ended(start('rate', perSecond, burst, untilMs))),
    )
    const all = outputs.map((output) => JSON.parse(output) as Hammered)
    const firstMs = Math.min(...all.map((one) => one.firstMs))
    const lastMs = Math.max(...all.map((one) => one.lastMs))
    const granted = all.reduce((sum, one) => sum + one.granted, 0)
    const most = burst + (perSecond * (lastMs - firstMs)) / 1000
    // One request for the tick and the clocks' microsecond.
    expect(granted).toBeLessThanOrEqual(most + 1)
    expect(granted).toBeGreaterThan(0.95 * most)
    expect(all.every((one) => one.asked > 10_000)).toBe(true)
  })
})

describe('a quota among processes that are killed', () => {
  it('is never over-granted, and a kill costs at most one lease', async () => {
    const quota = 400_000
    const random = newRandom(7)
    const map = mapSharedFile(counts, countsBytes)
    const words = new Int32Array(map.bytes.buffer)
    const running: ChildProcess[] = []
    const restart = async (index: number): Promise<void> => {
      const started = start('quota', quota, index)
      running[index] = started
      await new Promise((resolve) => started.stdout?.once('data', resolve))
    }
    const kill = async (index: number): Promise<void> => {
      const end = running[index] === undefined ? undefined : ended(running[index])
      running[index]?.kill('SIGKILL')
      await end
      killed += 1
      // One more for the unit that was granted and not counted when the kill came.
      lostMax += (words[index * 2 + 1] ?? 0) + 1
    }
    let [killed, lostMax] = [0, 0]
    const everyWorker = Array.from({ length: workers }, (_, index) => index)
    await Promise.all(everyWorker.map(restart))
    for (let round = 0; round < kills; round += 1) {
      await sleep(random.below(400))
      const victims = round % 4 === 3 ? everyWorker : [random.below(workers)]
      await Promise.all(victims.map(kill))
      await Promise.all(victims.map(restart))
    }
    await sleep(1500)
    const ends = running.map(ended)
    for (const one of running) one.kill('SIGTERM')
    await Promise.all(ends)

    const granted = everyWorker.reduce((sum, index) => sum + (words[index * 2] ?? 0), 0)
    map.unmap()
    const ledger = createQuotaLedger(await openLmdbCounterStore(state))
    const taken = (await ledger.usage(monthOf(Date.now()))).get('the-key') ?? 0
    await ledger.close()
    expect(taken).toBeLessThanOrEqual(quota)
    expect(granted).toBeLessThanOrEqual(taken)
    expect(granted).toBeGreaterThan(quota / 20)
    process.stderr.write(
      `${killed} kills: ${granted} granted, ${taken} taken, at most ${lostMax} may be lost\n`,
    )
    expect(taken - granted).toBeLessThanOrEqual(lostMax)
  })
})
