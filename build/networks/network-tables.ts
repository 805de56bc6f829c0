// The hand-kept tables under data/tables that speak of networks: which ASes and prefixes are what,
// by public knowledge. Each is a CSV: comment lines (`#`), a header, rows of which the table's own
// comment names the source. Loading validates everything and reports all problems at once, by file
// and line. Not here: countries.csv (build/places), and what the tables mean (network-type.ts).

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { IpriskError, messageOf } from '../../src/base/coded-error.ts'
import { type Day, parseDay } from '../../src/base/day.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { parseStrictCsv, type StrictCsvRow } from '../../src/base/text/csv.ts'
import { hasHostBits, parsePrefix, type Range } from '../../src/ip/range.ts'
import { botCategories, type BotCategory } from '../../src/model/kind.ts'

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

/** Where a row is from: a page that anybody can open, and the day on which it was written down. */
interface RowSource {
  readonly source: string
  readonly day: Day
}

interface AsRow {
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

/** The country of a mobile carrier's subscribers, two letters, and where the row is from. */
interface CarrierRow extends RowSource {
  readonly country: string
}
type MobileRow = AsRow & CarrierRow
type MobilePrefixRow = PrefixRow & CarrierRow

/** A range that a bot's operator publishes as its bot's own. */
interface CrawlerRow extends RowSource {
  readonly range: Range
  readonly provider: string
  readonly category: BotCategory
}

/** A prefix that its owner dedicates to Tor exits. */
export interface TorOperatorRow extends RowSource {
  readonly range: Range
  /** The AS by which its owner announces it: announced by another, the row does not count. */
  readonly asn: number
  readonly name: string
}

/** An AS or a prefix that serves one VPN and nothing else: one of `asn` and `range` is there. */
export interface VpnOperatorRow extends RowSource {
  readonly asn: number | undefined
  readonly range: Range | undefined
  /** What the registered organization's name holds: held by another, the row does not count. */
  readonly owner: string
  /** The VPN service, as an answer names it. */
  readonly name: string
}

export interface NetworkTables {
  /** The table that names an AS, and its row there. */
  readonly asRow: (asn: number) => { readonly table: AsTable; readonly row: AsRow } | undefined
  readonly rows: (table: AsTable) => readonly AsRow[]
  readonly mobile: readonly MobileRow[]
  readonly mobilePrefixes: readonly MobilePrefixRow[]
  readonly corporatePrefixes: readonly PrefixRow[]
  /** Public resolvers: software everywhere asks them, no person browses from them. */
  readonly resolvers: readonly PrefixRow[]
  readonly crawlers: readonly CrawlerRow[]
  readonly torOperators: readonly TorOperatorRow[]
  readonly vpnOperators: readonly VpnOperatorRow[]
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
  const mobile: MobileRow[] = []
  for (const table of asTables) {
    const isMobile = table === 'mobile'
    const columns = isMobile ? ['asn', ...carrierColumns] : ['asn', 'name', 'note']
    const rows: AsRow[] = []
    for (const row of open({ folder, table, columns, problems })) {
      const read = readAsRow(row, columns, problems)
      if (read === undefined) continue
      const other = byAsn.get(read.asn)
      if (other !== undefined) {
        problems.push(`${row.place}: AS${read.asn} is already in ${other.table}.csv`)
        continue
      }
      const carrier = isMobile ? readCarrier(row, columns, problems) : undefined
      if (carrier !== undefined) mobile.push({ ...read, ...carrier })
      byAsn.set(read.asn, { table, row: read })
      rows.push(read)
    }
    asRows.set(table, rows)
  }
  const prefixes = (table: string): readonly PrefixRow[] => {
    const columns = ['prefix', 'name', 'note']
    const rows = open({ folder, table, columns, problems })
    return readPrefixRows(rows, columns, problems).map(({ read }) => read)
  }
  const tables: NetworkTables = {
    asRow: (asn) => byAsn.get(asn),
    rows: (table) => asRows.get(table) ?? [],
    mobile,
    mobilePrefixes: readMobilePrefixes(folder, problems),
    corporatePrefixes: prefixes('corporate-prefixes'),
    resolvers: prefixes('resolvers'),
    crawlers: readCrawlers(folder, problems),
    torOperators: readTorOperators(folder, problems),
    vpnOperators: readVpnOperators(folder, problems),
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

/** The columns of carriers' tables behind the AS or prefix. */
const carrierColumns = ['name', 'country', 'source', 'day', 'note'] as const

function readAsRow(
  row: StrictCsvRow,
  columns: readonly string[],
  problems: string[],
): AsRow | undefined {
  const asn = readAsn(row, fieldOf(row, columns, 'asn'), problems)
  const name = fieldOf(row, columns, 'name')
  const note = fieldOf(row, columns, 'note')
  if (asn === undefined) return undefined
  if (name === '') {
    problems.push(`${row.place}: AS${asn} has no name`)
    return undefined
  }
  return { asn, name, note }
}

function readPrefixRows(
  rows: readonly StrictCsvRow[],
  columns: readonly string[],
  problems: string[],
): readonly { readonly row: StrictCsvRow; readonly read: PrefixRow }[] {
  const seen = new Set<string>()
  const found: { readonly row: StrictCsvRow; readonly read: PrefixRow }[] = []
  for (const row of rows) {
    const range = readPrefix(row, problems)
    if (range === undefined) continue
    const [written = ''] = row.fields
    const name = fieldOf(row, columns, 'name')
    if (name === '') problems.push(`${row.place}: ${written} has no name`)
    else if (seen.has(written)) problems.push(`${row.place}: ${written} is there twice`)
    else found.push({ row, read: { range, name, note: fieldOf(row, columns, 'note') } })
    seen.add(written)
  }
  return found
}

function readMobilePrefixes(folder: string, problems: string[]): readonly MobilePrefixRow[] {
  const columns = ['prefix', ...carrierColumns]
  const rows = open({ folder, table: 'mobile-prefixes', columns, problems })
  return readPrefixRows(rows, columns, problems).flatMap(({ row, read }) => {
    const carrier = readCarrier(row, columns, problems)
    return carrier === undefined ? [] : [{ ...read, ...carrier }]
  })
}

function readCarrier(
  row: StrictCsvRow,
  columns: readonly string[],
  problems: string[],
): CarrierRow | undefined {
  const country = fieldOf(row, columns, 'country')
  const isCountry = /^[A-Z]{2}$/.test(country)
  if (!isCountry) problems.push(`${row.place}: "${country}" is no country of two letters`)
  const source = fieldOf(row, columns, 'source')
  const day = readSourceDay(row, { source, written: fieldOf(row, columns, 'day') }, problems)
  return isCountry && day !== undefined ? { country, source, day } : undefined
}

function readCrawlers(folder: string, problems: string[]): readonly CrawlerRow[] {
  const columns = ['prefix', 'provider', 'category', 'source', 'day']
  const found: CrawlerRow[] = []
  for (const row of open({ folder, table: 'crawlers', columns, problems })) {
    const range = readPrefix(row, problems)
    const [, provider = '', category = '', source = '', written = ''] = row.fields
    const day = readSourceDay(row, { source, written }, problems)
    if (provider === '') problems.push(`${row.place}: no provider`)
    if (!isCategory(category)) problems.push(`${row.place}: "${category}" is no bot category`)
    if (range === undefined || day === undefined || !isCategory(category)) continue
    found.push({ range, provider, category, source, day })
  }
  return found
}

function readTorOperators(folder: string, problems: string[]): readonly TorOperatorRow[] {
  const columns = ['prefix', 'asn', 'name', 'source', 'day']
  const found: TorOperatorRow[] = []
  for (const row of open({ folder, table: 'tor-operators', columns, problems })) {
    const range = readPrefix(row, problems)
    const [, number = '', name = '', source = '', written = ''] = row.fields
    const asn = readAsn(row, number, problems)
    const day = readSourceDay(row, { source, written }, problems)
    if (name === '') problems.push(`${row.place}: no name`)
    if (range === undefined || asn === undefined || day === undefined) continue
    found.push({ range, asn, name, source, day })
  }
  return found
}

function readVpnOperators(folder: string, problems: string[]): readonly VpnOperatorRow[] {
  const columns = ['space', 'owner', 'name', 'source', 'day']
  const found: VpnOperatorRow[] = []
  const seen = new Set<string>()
  for (const row of open({ folder, table: 'vpn-operators', columns, problems })) {
    const [space = '', owner = '', name = '', source = '', written = ''] = row.fields
    const number = /^AS(\d.*)$/.exec(space)?.[1]
    const asn = number === undefined ? undefined : readAsn(row, number, problems)
    const range = number === undefined ? readPrefix(row, problems) : undefined
    const day = readSourceDay(row, { source, written }, problems)
    if (owner === '') problems.push(`${row.place}: no owner`)
    if (name === '') problems.push(`${row.place}: no name`)
    if (seen.has(space)) problems.push(`${row.place}: ${space} is there twice`)
    seen.add(space)
    if ((asn ?? range) === undefined || day === undefined) continue
    found.push({ asn, range, owner, name, source, day })
  }
  return found
}

function isCategory(text: string): text is BotCategory {
  return (botCategories as readonly string[]).includes(text)
}

// Single fields of the hand-kept tables: each reader gives the value, or says at the row's place
// what is wrong with it and gives undefined.

/** The field of a column; '' where a row leaves its last ones out. */
function fieldOf(row: StrictCsvRow, columns: readonly string[], column: string): string {
  return row.fields[columns.indexOf(column)] ?? ''
}

function readAsn(row: StrictCsvRow, written: string, problems: string[]): number | undefined {
  const asn = /^[1-9]\d{0,9}$/.test(written) ? Number(written) : 0
  if (asn !== 0 && asn <= 0xffff_ffff) return asn
  problems.push(`${row.place}: "${written}" is no AS number`)
  return undefined
}

function readPrefix(row: StrictCsvRow, problems: string[]): Range | undefined {
  const written = row.fields[0] ?? ''
  const range = parsePrefix(written)
  if (range === undefined) problems.push(`${row.place}: "${written}" is no prefix`)
  else if (hasHostBits(written)) problems.push(`${row.place}: ${written} has host bits set`)
  else return range
  return undefined
}

/** The day of a row that names where it is from. */
function readSourceDay(
  row: StrictCsvRow,
  { source, written }: { readonly source: string; readonly written: string },
  problems: string[],
): Day | undefined {
  const day = parseDay(written)
  if (!source.startsWith('https://')) problems.push(`${row.place}: "${source}" is no https URL`)
  if (day === undefined) problems.push(`${row.place}: "${written}" is no day`)
  return day
}
