// Forged tables with checksums that fit: `verify` refuses each, or all its answers are JSON of the
// schema, and soon; and one that was opened without verify hurts nobody.

import { join } from 'node:path'
import { writeTable } from '../../../build/write/write-table.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import { smallContent } from '../../../test/table/small-table.ts'
import type { ProofContext, ProofResult } from '../../harness/proof.ts'
import { reportOfChild } from './table-child.ts'

/** What the child says at its end. */
export interface ForgedReport {
  readonly tried: number
  readonly refused: number
  readonly addresses: number
  readonly longestMs: number
  readonly faults: readonly string[]
}

const program = join(packageRoot, 'dist/bench/faults/table/forged-child.js')
const counts = { ci: 100, short: 1000, long: 10_000 } as const

export async function forged({ folder, form }: ProofContext): Promise<ProofResult> {
  const path = join(folder, 'forged.iprisk')
  writeTable(path, smallContent())
  const args = [path, form === 'long' ? '2' : '1', String(counts[form])]
  const report = await reportOfChild<ForgedReport>(program, args, (fault) => ({
    tried: 0,
    refused: 0,
    addresses: 0,
    longestMs: 0,
    faults: [fault],
  }))
  const { tried, refused, addresses, longestMs, faults } = report
  return {
    facts: {
      'forged tables with good checksums, and refused by verify': `${tried}, ${refused}`,
      'addresses asked of each, by check, batch and insights': addresses,
      'longest time for the answers of one address': `${longestMs.toFixed(1)} ms`,
    },
    faults,
  }
}
