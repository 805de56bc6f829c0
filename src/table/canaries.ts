// Canaries: addresses with a known verdict (data/tables/canaries.csv). Builds and servers refuse a
// table that misjudges one (promote-table.ts, acceptance-check.ts).

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Day, parseDay } from '../base/day.ts'
import { type IpriskError, messageOf, inputError } from '../base/coded-error.ts'
import { packageRoot } from '../base/package-root.ts'
import { parseStrictCsv } from '../base/text/csv.ts'
import { newAddressWords } from '../ip/address.ts'
import { type Range, hasHostBits, parsePrefix, bigintToWords } from '../ip/range.ts'
import { formatAddress } from '../ip/format-address.ts'
import type { Classification } from '../model/kind.ts'
import type { Table } from './table.ts'

/** What a table may say about each; more is the fault of lists. */
export const canaryKinds = {
  resolver: { title: 'public resolver', allowed: ['clean', 'hosting'], scoreMax: 40 },
  root_server: { title: 'root server', allowed: ['clean', 'hosting'], scoreMax: 40 },
  search_engine: {
    title: "search engine's published range",
    allowed: ['known_bot', 'clean', 'hosting'],
    scoreMax: 40,
  },
  special: { title: 'special-purpose address space', allowed: ['bogon'], scoreMax: 100 },
} as const satisfies Record<
  string,
  { readonly title: string; readonly allowed: readonly Classification[]; readonly scoreMax: number }
>
export type CanaryKind = keyof typeof canaryKinds

export interface Canary {
  readonly range: Range
  readonly kind: CanaryKind
  readonly name: string
  /** Where it is published, and when the row was added. */
  readonly source: string
  readonly day: Day
}

const rowsMax = 500

/** Throws `canaries_invalid` with every problem. */
export function loadCanaries(
  folder: string = join(packageRoot, 'data', 'tables'),
): readonly Canary[] {
  const path = join(folder, 'canaries.csv')
  const columns = ['prefix', 'kind', 'name', 'source', 'day']
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw invalid([`${path}: ${messageOf(cause)}`])
  }
  const table = parseStrictCsv({ path, text, columns })
  const problems = [...table.problems]
  const canaries: Canary[] = []
  const seen = new Set<string>()
  for (const { place, fields } of table.rows) {
    const [prefix = '', kind = '', name = '', source = '', written = ''] = fields
    const range = parsePrefix(prefix)
    const day = parseDay(written)
    if (range === undefined || hasHostBits(prefix))
      problems.push(`${place}: ${prefix} is not a prefix`)
    if (!isKind(kind)) problems.push(`${place}: "${kind}" is not a kind of canary`)
    if (name === '') problems.push(`${place}: it has no name`)
    if (!source.startsWith('https://')) problems.push(`${place}: "${source}" is not an https URL`)
    if (day === undefined) problems.push(`${place}: "${written}" is not a day`)
    if (seen.has(prefix)) problems.push(`${place}: ${prefix} appears twice`)
    seen.add(prefix)
    if (range === undefined || day === undefined || !isKind(kind)) continue
    canaries.push({ range, kind, name, source, day })
  }
  if (canaries.length > rowsMax) problems.push(`${path}: at most ${rowsMax} rows are hand-kept`)
  if (problems.length > 0) throw invalid(problems)
  return canaries
}

const isKind = (text: string): text is CanaryKind => Object.hasOwn(canaryKinds, text)

function invalid(problems: readonly string[]): IpriskError {
  return inputError('canaries_invalid', `${problems.length} problems in the canaries:`, {
    details: problems,
  })
}

/** One line each, with the table's verdict. */
export function misjudgedCanaries(
  table: Pick<Table, 'check'>,
  canaries: readonly Canary[],
): readonly string[] {
  const words = newAddressWords()
  return canaries.flatMap(({ range, kind, name }) => {
    const { title, allowed, scoreMax } = canaryKinds[kind]
    bigintToWords(range.family, range.first, words)
    const address = formatAddress(range.family, words)
    const answer = table.check(address)
    const holds =
      answer !== undefined &&
      (allowed as readonly string[]).includes(answer.classification) &&
      answer.risk_score <= scoreMax
    if (holds) return []
    const found = answer === undefined ? 'nothing' : `${answer.classification} ${answer.risk_score}`
    return [`the canary ${address} (${name}, ${title}) is called ${found}`]
  })
}
