// The hand-kept tables under data/tables that speak of networks: which ASes and prefixes are what,
// by public knowledge. Each is a CSV: comment lines (`#`), a header, rows of which the table's own
// comment names the source. Loading validates everything and reports all problems at once, by file
// and line. Not here: countries.csv (build/places), and what the tables mean (network-type.ts).

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { IpriskError, messageOf } from '../../src/base/coded-error.ts'
import { parseDay, type Day } from '../../src/base/day.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { hasHostBits, parsePrefix, type Range } from '../../src/ip/range.ts'
import { botCategories, type BotCategory } from '../../src/model/kind.ts'
import { parseStrictCsv, type StrictCsvRow } from '../../src/base/strict-csv.ts'

/** Tables of ASes: at most one of them names an AS. */
export const asTables = [
  'hosting',
  'mobile',
  'corporate',
  'satellite',
  'cdn',
  'access',
  'education',
  'government',
  'business',
] as const
export type AsTable = (typeof asTables)[number]

/** Tables of prefixes that overlay their AS. */
export const prefixTables = ['mobile-prefixes', 'corporate-prefixes'] as const

export interface AsRow {
  readonly asn: number
  /** The operator, as in its own documents or the registry. */
  readonly name: string
  readonly note: string
}

export interface PrefixRow {
  readonly range: Range
  readonly name: string
  readonly note: string
}

/** A range that a bot's operator publishes as its bot's own. */
export interface CrawlerRow {
  readonly range: Range
  readonly provider: string
  readonly category: BotCategory
  /** Address of the operator's document, and the day on which it said so. */
  readonly source: string
  readonly day: Day
}

export interface NetworkTables {
  /** The table that names an AS, and its row there. */
  readonly asRow: (asn: number) => { readonly table: AsTable; readonly row: AsRow } | undefined
  readonly rows: (table: AsTable) => readonly AsRow[]
  readonly mobilePrefixes: readonly PrefixRow[]
  readonly corporatePrefixes: readonly PrefixRow[]
  /** Public resolvers: software everywhere asks them, no person browses from them. */
  readonly resolvers: readonly PrefixRow[]
  readonly crawlers: readonly CrawlerRow[]
}

/** No table may grow beyond what a person can keep by hand. */
const rowsMax = 500

/** data/tables of this package. */
export const networkTablesFolder = join(packageRoot, 'data', 'tables')

/** Error: `tables_invalid`, whose message lists every problem of every table. */
export function loadNetworkTables(folder: string = networkTablesFolder): NetworkTables {
  const problems: string[] = []
  const asRows = new Map<AsTable, readonly AsRow[]>()
  const byAsn = new Map<number, { readonly table: AsTable; readonly row: AsRow }>()
  for (const table of asTables) {
    const rows: AsRow[] = []
    for (const row of open({ folder, table, columns: ['asn', 'name', 'note'], problems })) {
      const read = readAsRow(row, problems)
      if (read === undefined) continue
      const other = byAsn.get(read.asn)
      if (other !== undefined) {
        problems.push(`${row.place}: AS${read.asn} is already in ${other.table}.csv`)
        continue
      }
      byAsn.set(read.asn, { table, row: read })
      rows.push(read)
    }
    asRows.set(table, rows)
  }
  const prefixes = (table: string): readonly PrefixRow[] =>
    readPrefixRows(open({ folder, table, columns: ['prefix', 'name', 'note'], problems }), problems)
  const tables: NetworkTables = {
    asRow: (asn) => byAsn.get(asn),
    rows: (table) => asRows.get(table) ?? [],
    mobilePrefixes: prefixes(prefixTables[0]),
    corporatePrefixes: prefixes(prefixTables[1]),
    resolvers: prefixes('resolvers'),
    crawlers: readCrawlers(folder, problems),
  }
  if (problems.length > 0) {
    throw new IpriskError({
      code: 'tables_invalid',
      message: `${problems.length} problems in the hand-kept tables:`,
      details: problems,
      fault: 'input',
    })
  }
  return tables
}

/** The rows of a table; problems of the file as a whole go to `problems`. */
function open(options: {
  readonly folder: string
  readonly table: string
  readonly columns: readonly string[]
  readonly problems: string[]
}): readonly StrictCsvRow[] {
  const path = join(options.folder, `${options.table}.csv`)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    options.problems.push(`${path}: ${messageOf(error)}`)
    return []
  }
  const table = parseStrictCsv({ path, text, columns: options.columns })
  options.problems.push(...table.problems)
  if (table.rows.length > rowsMax) {
    options.problems.push(`${path}: ${table.rows.length} rows; at most ${rowsMax} are hand-kept`)
  }
  return table.rows
}

function readAsRow(row: StrictCsvRow, problems: string[]): AsRow | undefined {
  const [written = '', name = '', note = ''] = row.fields
  const asn = /^[1-9]\d{0,9}$/.test(written) ? Number(written) : 0
  if (asn === 0 || asn > 0xffff_ffff) {
    problems.push(`${row.place}: "${written}" is no AS number`)
    return undefined
  }
  if (name === '') {
    problems.push(`${row.place}: AS${asn} has no name`)
    return undefined
  }
  return { asn, name, note }
}

function readPrefix(row: StrictCsvRow, problems: string[]): Range | undefined {
  const written = row.fields[0] ?? ''
  const range = parsePrefix(written)
  if (range === undefined) problems.push(`${row.place}: "${written}" is no prefix`)
  else if (hasHostBits(written)) problems.push(`${row.place}: ${written} has host bits set`)
  else return range
  return undefined
}

function readPrefixRows(rows: readonly StrictCsvRow[], problems: string[]): readonly PrefixRow[] {
  const seen = new Set<string>()
  const found: PrefixRow[] = []
  for (const row of rows) {
    const range = readPrefix(row, problems)
    if (range === undefined) continue
    const [written = '', name = '', note = ''] = row.fields
    if (name === '') problems.push(`${row.place}: ${written} has no name`)
    else if (seen.has(written)) problems.push(`${row.place}: ${written} is there twice`)
    else found.push({ range, name, note })
    seen.add(written)
  }
  return found
}

function readCrawlers(folder: string, problems: string[]): readonly CrawlerRow[] {
  const columns = ['prefix', 'provider', 'category', 'source', 'day']
  const found: CrawlerRow[] = []
  for (const row of open({ folder, table: 'crawlers', columns, problems })) {
    const range = readPrefix(row, problems)
    const [, provider = '', category = '', source = '', written = ''] = row.fields
    const day = parseDay(written)
    if (provider === '') problems.push(`${row.place}: no provider`)
    if (!isCategory(category)) problems.push(`${row.place}: "${category}" is no bot category`)
    if (!source.startsWith('https://')) problems.push(`${row.place}: "${source}" is no https URL`)
    if (day === undefined) problems.push(`${row.place}: "${written}" is no day`)
    if (range === undefined || day === undefined || !isCategory(category)) continue
    found.push({ range, provider, category, source, day })
  }
  return found
}

function isCategory(text: string): text is BotCategory {
  return (botCategories as readonly string[]).includes(text)
}
