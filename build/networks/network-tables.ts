// The hand-kept tables of networks in data/tables: which ASes and prefixes are what, by public
// knowledge. Each is a CSV with comment lines (`#`), a header and rows with sources. Loading
// validates everything and reports all problems by file and line.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, inputError } from '../../src/base/coded-error.ts'
import { type Day, parseDay } from '../../src/base/day.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { parseStrictCsv } from '../../src/base/text/csv.ts'
import { hasHostBits, parsePrefix, type Range } from '../../src/ip/range.ts'
import { botCategories, type BotCategory } from '../../src/model/kind.ts'

/** An AS may be in one of them only. */
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

export type PrefixRow = RowOf<typeof notedPrefixFields>
/** A prefix of Tor exits, or of rented servers. */
export type AnnouncedPrefixRow = RowOf<typeof announcedFields>
/** An AS or a prefix that serves only one VPN: has `asn` or `range`. */
export type VpnOperatorRow = Omit<RowOf<typeof vpnOperatorFields>, 'space'> &
  RowOf<typeof vpnOperatorFields>['space']

export interface AsRow {
  readonly asn: number
  /** As in its own documents or the registry. */
  readonly name: string
  readonly note: string
}

export type NetworkTables = ReturnType<typeof loadNetworkTables>

/** What a person can keep by hand. */
const rowsMax = 1000

export const networkTablesFolder = join(packageRoot, 'data', 'tables')

/** Throws `tables_invalid` with every problem of every table. */
export function loadNetworkTables(folder: string = networkTablesFolder) {
  const problems: string[] = []
  const read = <F extends Fields>(table: string, fields: F, isUnique = false) =>
    readRows({ path: join(folder, `${table}.csv`), fields, isUnique, problems })
  const claims = new Map<number, AsTable>()
  let mobile: readonly (AsRow & RowOf<typeof carrierFields>)[] = []
  const rowsOf = (table: AsTable): readonly AsRow[] => {
    const fields = { asn: unclaimedAsn(table, claims), name: asName }
    if (table !== 'mobile') return read(table, { ...fields, note: text })
    return (mobile = read(table, { ...fields, ...carrierFields, note: text }))
  }
  const asRows = new Map<AsTable, readonly AsRow[]>(asTables.map((table) => [table, rowsOf(table)]))
  const byAsn = new Map(
    [...asRows].flatMap(([table, rows]) => rows.map((row) => [row.asn, { table, row }])),
  )
  const tables = {
    asRow: (asn: number) => byAsn.get(asn),
    rows: (table: AsTable) => asRows.get(table) ?? [],
    mobile,
    mobilePrefixes: read('mobile-prefixes', mobilePrefixFields, true),
    corporatePrefixes: read('corporate-prefixes', notedPrefixFields, true),
    /** Public resolvers: software asks them, no person browses from them. */
    resolvers: read('resolvers', notedPrefixFields, true),
    /** Well-known infrastructure, never a visitor's address. */
    infrastructure: read('infrastructure', infrastructureFields, true),
    /** Ranges that operators publish for their bots. */
    crawlers: read('crawlers', crawlerFields),
    torOperators: read('tor-operators', announcedFields),
    /** Prefixes for rented servers in networks with other customers. */
    hostingPrefixes: read('hosting-prefixes', announcedFields, true),
    vpnOperators: read('vpn-operators', vpnOperatorFields, true).map(
      ({ space, ...row }): VpnOperatorRow => ({ ...space, ...row }),
    ),
  }
  if (problems.length > 0) {
    throw inputError('tables_invalid', `${problems.length} problems in the hand-kept tables:`, {
      details: problems,
    })
  }
  return tables
}

/** Parses a field, or reports a problem. `first` is the row's first field, which names the row. */
type Field<T> = (
  written: string,
  report: (problem: string) => undefined,
  first: string,
) => T | undefined

/** In column order; a range's column is called `prefix`. */
type Fields = Readonly<Record<string, Field<unknown>>>
type RowOf<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never
}

/** Rows with problems are left out. */
function readRows<F extends Fields>(options: {
  readonly path: string
  readonly fields: F
  /** Whether first fields must differ. */
  readonly isUnique: boolean
  readonly problems: string[]
}): readonly RowOf<F>[] {
  const { path, fields, isUnique, problems } = options
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    problems.push(`${path}: ${messageOf(error)}`)
    return []
  }
  const columns = Object.keys(fields).map((member) => (member === 'range' ? 'prefix' : member))
  const table = parseStrictCsv({ path, text, columns })
  problems.push(...table.problems)
  if (table.rows.length > rowsMax) {
    problems.push(`${path}: ${table.rows.length} rows; at most ${rowsMax} are hand-kept`)
  }
  const seen = new Set<string>()
  return table.rows.flatMap(({ place, fields: written }) => {
    const report = (problem: string): undefined => void problems.push(`${place}: ${problem}`)
    const [first = ''] = written
    if (isUnique && seen.has(first)) report(`${first} appears twice`)
    seen.add(first)
    const members = Object.entries(fields).map(
      ([member, read], at) => [member, read(written[at] ?? '', report, first)] as const,
    )
    const isWhole = members.every(([, value]) => value !== undefined)
    return isWhole ? [Object.fromEntries(members) as RowOf<F>] : []
  })
}

const text: Field<string> = (written) => written

const asName: Field<string> = (written, report, first) =>
  written === '' ? report(`AS${first} has no name`) : written

const prefixName: Field<string> = (written, report, first) =>
  written === '' ? report(`${first} has no name`) : written

const named =
  (column: string): Field<string> =>
  (written, report) =>
    written === '' ? report(`no ${column}`) : written

const asn: Field<number> = (written, report) => {
  const number = /^[1-9]\d{0,9}$/.test(written) ? Number(written) : 0
  return number !== 0 && number <= 0xffff_ffff ? number : report(`"${written}" is not an AS number`)
}

/** An AS number that no other row of any table has. */
function unclaimedAsn(table: AsTable, claims: Map<number, AsTable>): Field<number> {
  return (written, report, first) => {
    const number = asn(written, report, first)
    if (number === undefined) return undefined
    const other = claims.get(number)
    if (other !== undefined) return report(`AS${number} is already in ${other}.csv`)
    claims.set(number, table)
    return number
  }
}

const prefix: Field<Range> = (written, report) => {
  const range = parsePrefix(written)
  if (range === undefined) return report(`"${written}" is not a prefix`)
  return hasHostBits(written) ? report(`${written} has host bits set`) : range
}

const space: Field<{ readonly asn: number | undefined; readonly range: Range | undefined }> = (
  written,
  report,
  first,
) => {
  const number = /^AS(\d.*)$/.exec(written)?.[1]
  const found =
    number === undefined
      ? { asn: undefined, range: prefix(written, report, first) }
      : { asn: asn(number, report, first), range: undefined }
  return (found.asn ?? found.range) === undefined ? undefined : found
}

const category: Field<BotCategory> = (written, report) =>
  botCategories.find((name) => name === written) ?? report(`"${written}" is not a bot category`)

const source: Field<string> = (written, report) =>
  written.startsWith('https://') ? written : report(`"${written}" is not an https URL`)

const day: Field<Day> = (written, report) =>
  parseDay(written) ?? report(`"${written}" is not a day`)

/** A public page, and the day on which the row was written. */
const sourceFields = { source, day }

/** The two-letter country of a mobile carrier, and the row's source. */
const carrierFields = {
  country: ((written, report) =>
    /^[A-Z]{2}$/.test(written)
      ? written
      : report(`"${written}" is not a two-letter country code`)) satisfies Field<string>,
  ...sourceFields,
}

const prefixFields = { range: prefix, name: prefixName }
const notedPrefixFields = { ...prefixFields, note: text }
const mobilePrefixFields = { ...prefixFields, ...carrierFields, note: text }
const infrastructureFields = { ...prefixFields, ...sourceFields }
const crawlerFields = { range: prefix, provider: named('provider'), category, ...sourceFields }
/** `asn`: if another AS announces it, the row does not count. */
const announcedFields = { range: prefix, asn, name: named('name'), ...sourceFields }
/** `owner`: must occur in the registered organization's name, or the row does not count. */
const vpnOperatorFields = { space, owner: named('owner'), name: named('name'), ...sourceFields }
