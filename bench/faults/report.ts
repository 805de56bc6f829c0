// What stays of the proofs: docs/proof/<name>.<form>.json with command, machine and day, and
// docs/proof/REPORT.md, which is generated from them and from nothing else.

import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/base/package-root.ts'
import type { RunHead } from '../harness/run.ts'
import type { Facts, ProofResult } from '../harness/proof.ts'

const home = join(packageRoot, 'docs/proof')

export interface ProofReport extends RunHead, Omit<ProofResult, 'facts'> {
  readonly kind: 'proof'
  readonly name: string
  readonly form: 'short' | 'long'
  readonly shows: string
  readonly seconds: number
  readonly facts: readonly { readonly what: string; readonly figure: string }[]
}

export function factRows(facts: Readonly<Facts>): ProofReport['facts'] {
  return Object.entries(facts).flatMap(([what, figures]) =>
    [figures].flat().map((figure) => ({ what, figure: String(figure) })),
  )
}

/** For people. */
export function proofText({ name, shows, seconds, facts, faults }: ProofReport): string {
  const verdict = faults.length === 0 ? 'holds' : 'DOES NOT HOLD'
  return [
    `${name} ${verdict} (${seconds} s): ${shows}`,
    ...facts.map(({ what, figure }) => `  ${what}: ${figure}`),
    ...faults.map((fault) => `  fault: ${fault}`),
  ].join('\n')
}

/** Gives the path. */
export function saveProof(report: ProofReport): string {
  mkdirSync(home, { recursive: true })
  const path = join(home, `${report.name}.${report.form}.json`)
  writeFileSync(path, `${JSON.stringify(report, undefined, 1)}\n`)
  return path
}

/** Writes the report of all that is kept; gives its path. Proofs in their order, the long first. */
export function writeProofs(order: readonly string[]): string {
  const names = readdirSync(home).filter((name) => name.endsWith('.json'))
  const reports = names.map((name) => JSON.parse(readFileSync(join(home, name), 'utf8')) as unknown)
  const path = join(home, 'REPORT.md')
  writeFileSync(path, proofReportText(reports as readonly ProofReport[], order))
  return path
}

export function proofReportText(reports: readonly ProofReport[], order: readonly string[]): string {
  const sorted = reports.toSorted(
    (a, b) => order.indexOf(a.name) - order.indexOf(b.name) || (a.form < b.form ? -1 : 1),
  )
  const head =
    '# Proofs\n\nDoes what this product promises hold when processes are killed, disks fail and ' +
    'clients are hostile? Written by `npm run prove -- --save`, not by hand. The JSON beside it ' +
    'has what each run found.\n'
  return [head, ...sorted.map(sectionText)].join('\n')
}

function sectionText(report: ProofReport): string {
  const { name, form, shows, at, flags, seconds, machine, facts, faults } = report
  const rows = facts.map(({ what, figure }) => `| ${cell(what)} | ${cell(figure)} |`)
  return [
    `## ${name}, ${form}: ${faults.length === 0 ? 'holds' : 'does not hold'}\n`,
    `${shows}\n`,
    `\`npm run prove -- ${flags.join(' ')} --save\`, ` +
      `${at.slice(0, 10)}, ${machine.cores} cores of ${machine.cpu}, Node ${machine.node}, ` +
      `${seconds} s\n`,
    '| what | figure |',
    '|---|---|',
    ...rows,
    '',
    ...faults.map((fault) => `- ${fault}\n`),
  ].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
