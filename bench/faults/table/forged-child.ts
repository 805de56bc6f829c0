// The child of bench/faults/table/broken-tables.ts: forges a table in one way after another, judges
// each and repairs it. A child, because what a forged file does to a process that maps it may be a
// signal or a loop without end, which only its parent can see.
//
//   forged-child.js FILE SEED COUNT
//
// It says each forgery before it tries it, and what came of all of them at its end.

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { openTable } from '../../../src/table/open-table.ts'
import { newRandom } from '../../harness/random.ts'
import { forgeries } from './forge.ts'
import type { ForgedReport } from './broken-tables.ts'
import { addressesOf, judgeForged } from './judge-forged.ts'

function main([path = '', seed = '1', count = '0']: readonly string[]): void {
  const good = new Uint8Array(readFileSync(path))
  const file = openSync(path, 'r+')
  const table = openTable(path)
  const addresses = addressesOf(table)
  table.close()
  const faults: string[] = []
  let tried = 0
  let refused = 0
  let longestMs = 0
  for (const { name, patches } of forgeries(good, newRandom(Number(seed)), Number(count))) {
    for (const { offset, bytes } of patches) writeSync(file, bytes, 0, bytes.length, offset)
    // Written, not sent: it must be out before a signal ends this process.
    writeSync(1, `${name}\n`)
    const judged = judgeForged(path, addresses)
    tried += 1
    if (!judged.verified) refused += 1
    longestMs = Math.max(longestMs, judged.longestMs)
    if (judged.fault !== '') faults.push(`${name}: ${judged.fault}`)
    for (const { offset, bytes } of patches) {
      writeSync(file, good, offset, bytes.length, offset)
    }
  }
  closeSync(file)
  const report = { tried, refused, addresses: addresses.length, longestMs, faults }
  process.send?.(report satisfies ForgedReport)
}

main(process.argv.slice(2))
