// Broken table files. Damaged ones: every byte of header and trailer, bits at steps through each
// section, cuts at every boundary, sections swapped, lengths absurd, headers forged; all that a
// file can know of its damage is refused by `verify`. Forged ones with checksums that fit: `verify`
// refuses each, or all its answers are JSON of the schema, and soon. Whatever a file says, `open`
// and lookups end no process: so a child tries them.
//
// The smallest table has 8 MB, for its two first-level indexes have a fixed size. A table of the
// world that is named (`--table`) is damaged at random as well.

import { fork } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { writeTable } from '../../../build/write/write-table.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import { smallContent } from '../../../test/table/small-table.ts'
import type { Facts, ProofContext, ProofResult } from '../../harness/proof.ts'

/** What damage-child.ts reports at its end. */
export interface DamageReport {
  readonly tried: number
  readonly refused: number
  /** With checksums that fit: a table of other content, which may be sound. */
  readonly forged: number
  readonly forgedRefused: number
  readonly faults: readonly string[]
}

/** What forged-child.ts reports at its end. */
export interface ForgedReport {
  readonly tried: number
  readonly refused: number
  readonly addresses: number
  readonly longestMs: number
  readonly faults: readonly string[]
}

const children = join(packageRoot, 'dist/bench/faults/table')
/** For one file: more is a loop without end. */
const silenceMsMax = 30_000
const worldFlips = 100
const steps = { ci: 65_536, short: 4096, long: 512 } as const
const forgeries = { ci: 100, short: 1000, long: 10_000 } as const

export async function damage({ folder, form, table, say }: ProofContext): Promise<ProofResult> {
  const none: DamageReport = { tried: 0, refused: 0, forged: 0, forgedRefused: 0, faults: [] }
  const inChild = (...args: readonly string[]): Promise<DamageReport> =>
    reportOfChild('damage-child.js', args, none)
  const small = join(folder, 'small.iprisk')
  writeTable(small, smallContent())
  const reports = [{ of: 'the small table', ...(await inChild(small, String(steps[form]))) }]
  const world = table === undefined ? 'a table of the world' : `the world's ${basename(table)}`
  if (table !== undefined) {
    say(`bits of ${table}`)
    const copy = join(folder, 'world.iprisk')
    copyFileSync(table, copy)
    reports.push({ of: world, ...(await inChild(copy, '0', '7', String(worldFlips))) })
  }
  const facts: Facts = {}
  for (const { of, tried, refused, forged, forgedRefused } of reports) {
    facts[`${of}: damages tried, and refused by verify`] = `${tried}, ${refused}`
    if (forged > 0) facts[`${of}: forged headers, and refused`] = `${forged}, ${forgedRefused}`
  }
  if (table === undefined) facts[`${world}: damages tried`] = 'none: --table names no table'
  return { facts, faults: reports.flatMap(({ faults }) => faults) }
}

export async function forged({ folder, form }: ProofContext): Promise<ProofResult> {
  const path = join(folder, 'forged.iprisk')
  writeTable(path, smallContent())
  const args = [path, form === 'long' ? '2' : '1', String(forgeries[form])]
  const none: ForgedReport = { tried: 0, refused: 0, addresses: 0, longestMs: 0, faults: [] }
  const report = await reportOfChild('forged-child.js', args, none)
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

/**
 * A child prints what it tries next and sends a report at its end. One that a signal ends, or that
 * is silent, is a fault named by its last words.
 */
function reportOfChild<Report extends DamageReport | ForgedReport>(
  name: string,
  args: readonly string[],
  none: Report,
): Promise<Report> {
  return new Promise((resolve, reject) => {
    const stdio = ['ignore', 'pipe', 'inherit', 'ipc'] as const
    const child = fork(join(children, name), args, { stdio: [...stdio] })
    let last = ''
    let report: Report | undefined
    const watch = setTimeout(() => child.kill('SIGKILL'), silenceMsMax)
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      watch.refresh()
      last = text.trimEnd().split('\n').at(-1) ?? last
    })
    child.on('message', (message) => {
      report = message as Report
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(watch)
      resolve(report ?? { ...none, faults: [`ended with ${signal ?? code} at: ${last}`] })
    })
  })
}
