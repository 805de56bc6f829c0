// Damaged table files: every byte of header and trailer, bits at steps through each section, cuts
// at every boundary, sections swapped, lengths absurd, headers forged. All that a file can know of
// its damage is refused by `verify`; and whatever it says, `open` and lookups end no process.
//
// The smallest table has 8 MB, for its two first-level indexes have a fixed size. A
// table of the world that is named (`--table`) is damaged at random as well.

import { copyFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { writeTable } from '../../../build/write/write-table.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import { smallContent } from '../../../test/table/small-table.ts'
import type { Facts, ProofContext, ProofResult } from '../../harness/proof.ts'
import { reportOfChild } from './table-child.ts'

/** What the child says at its end. */
export interface DamageReport {
  readonly tried: number
  readonly refused: number
  /** With checksums that fit: a table of other content, which may be sound. */
  readonly forged: number
  readonly forgedRefused: number
  readonly faults: readonly string[]
}

const program = join(packageRoot, 'dist/bench/faults/table/damage-child.js')
const worldFlips = 100

const steps = { ci: 65_536, short: 4096, long: 512 } as const

export async function damage({ folder, form, table, say }: ProofContext): Promise<ProofResult> {
  const small = join(folder, 'small.iprisk')
  writeTable(small, smallContent())
  const reports = [{ of: 'the small table', ...(await inChild([small, String(steps[form])])) }]
  const world = table === undefined ? 'a table of the world' : `the world's ${basename(table)}`
  if (table !== undefined) {
    say(`bits of ${table}`)
    const copy = join(folder, 'world.iprisk')
    copyFileSync(table, copy)
    reports.push({ of: world, ...(await inChild([copy, '0', '7', String(worldFlips)])) })
  }
  const facts: Facts = {}
  for (const { of, tried, refused, forged, forgedRefused } of reports) {
    facts[`${of}: damages tried, and refused by verify`] = `${tried}, ${refused}`
    if (forged > 0) facts[`${of}: forged headers, and refused`] = `${forged}, ${forgedRefused}`
  }
  if (table === undefined) {
    facts[`${world}: damages tried`] = 'none: --table names no table'
  }
  return { facts, faults: reports.flatMap(({ faults }) => faults) }
}

function inChild(args: readonly string[]): Promise<DamageReport> {
  return reportOfChild(program, args, (fault) => ({
    tried: 0,
    refused: 0,
    forged: 0,
    forgedRefused: 0,
    faults: [fault],
  }))
}
