// The tallies of all pieces as one summary: numbers become names, and the largest stand first. And
// the summary as a table with bars for people. Not here: counting (src/bulk/line-tally.ts).

import { alignColumns } from '../../base/align-columns.ts'
import { formatDay } from '../../base/day.ts'
import { formatCount } from '../../base/number-format.ts'
import { type CountPairs, type LineTally } from '../../bulk/line-tally.ts'
import { verdictProvider } from '../../model/verdict.ts'
import { readCountry } from '../../table/file/location-record.ts'
import { readNetwork } from '../../table/file/network-record.ts'
import type { OpenTable } from '../../table/open-table.ts'
import { readVerdict } from '../../table/file/verdict-record.ts'
import type { BulkResult } from './bulk-run.ts'
import { newCardinality } from './cardinality.ts'
import type { Line } from '../terminal/line.ts'

interface Share {
  readonly addresses: number
  readonly percent: number
}

/** The largest of a list, and how many there are of it. */
interface Shares<Row> {
  readonly count: number
  readonly top: readonly (Row & Share)[]
}

/** What `summarize --json` prints. Shares are of `addresses`, repeated ones included. */
export interface Summary {
  readonly table: { readonly id: string; readonly as_of: string }
  readonly lines: number
  readonly addresses: number
  /** Lines that should name an address and do not. */
  readonly bad_lines: number
  readonly distinct_addresses: number
  /** Above half a million: within 0.5 percent, nearly always. */
  readonly distinct_is_estimate: boolean
  readonly classifications: Shares<{ readonly classification: string }>
  readonly providers: Shares<{ readonly provider: string }>
  readonly asns: Shares<{ readonly asn: number; readonly organization: string }>
  readonly countries: Shares<{ readonly country_code: string; readonly country: string }>
}

export interface Summarizer {
  readonly add: (tally: LineTally) => void
  readonly summary: (result: BulkResult) => Summary
}

type Counts = Map<number, number>

export function newSummarizer(table: OpenTable, top: number): Summarizer {
  const { views, strings } = table.reader
  const verdicts: Counts = new Map()
  const networks: Counts = new Map()
  const countries: Counts = new Map()
  const distinct = newCardinality()
  let bogons = 0
  return {
    add: (tally) => {
      bogons += tally.bogons
      addPairs(verdicts, tally.verdicts)
      addPairs(networks, tally.networks)
      addPairs(countries, tally.countries)
      distinct.add(tally.hashes)
    },
    summary: ({ lines, addresses, bad }) => {
      const { count: distinctCount, isEstimate } = distinct.count()
      const judged = [...verdicts].map(
        ([id, number]) => [readVerdict(views, id, strings), number] as const,
      )
      const classes = [
        ['bogon', bogons] as const,
        ...judged.map(([verdict, number]) => [verdict.classification, number] as const),
      ]
      const providers = judged.map(
        ([verdict, number]) => [verdictProvider(verdict), number] as const,
      )
      const ases = [...networks].map(
        ([id, number]) =>
          [id === 0 ? undefined : readNetwork(views.networks, id, strings), number] as const,
      )
      const organizations = new Map(ases.map(([as]) => [as?.asn ?? 0, as?.organization ?? '']))
      const largest = <Key>(counts: Iterable<readonly [Key, number]>, none: Key) =>
        largestOf(counts, { none, top, all: addresses })
      const byAsn = largest(
        ases.map(([as, number]) => [as?.asn ?? 0, number]),
        0,
      )
      const byCountry = largest(countries, 0)
      return {
        table: { id: table.id, as_of: formatDay(table.asOf) },
        lines,
        addresses,
        bad_lines: bad,
        distinct_addresses: distinctCount,
        distinct_is_estimate: isEstimate,
        classifications: withNames(
          largestOf(classes, { none: '', top: 99, all: addresses }),
          (it) => ({
            classification: it,
          }),
        ),
        providers: withNames(largest(providers, ''), (provider) => ({ provider })),
        asns: withNames(byAsn, (asn) => ({ asn, organization: organizations.get(asn) ?? '' })),
        countries: withNames(byCountry, (id) => {
          const { country_code, country } = readCountry(views.countries, id, strings)
          return { country_code, country }
        }),
      }
    },
  }
}

function addPairs(counts: Counts, pairs: CountPairs): void {
  for (let at = 0; at < pairs.length; at += 2) {
    const number = pairs[at]!
    counts.set(number, (counts.get(number) ?? 0) + pairs[at + 1]!)
  }
}

/** Those with the same key together, without `none`; equals in the order of their keys. */
function largestOf<Key>(
  counts: Iterable<readonly [Key, number]>,
  how: { readonly none: Key; readonly top: number; readonly all: number },
): Shares<{ readonly key: Key }> {
  const sums = new Map<Key, number>()
  for (const [key, number] of counts) {
    if (key !== how.none && number > 0) sums.set(key, (sums.get(key) ?? 0) + number)
  }
  const sorted = [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  const top = sorted.slice(0, how.top).map(([key, addresses]) => {
    return { key, addresses, percent: Math.round((addresses / how.all) * 10_000) / 100 }
  })
  return { count: sums.size, top }
}

function withNames<Key, Row>(
  { count: all, top }: Shares<{ readonly key: Key }>,
  nameOf: (key: Key) => Row,
): Shares<Row> {
  const rows = top.map(({ key, ...share }) => ({ ...nameOf(key), ...share }))
  return { count: all, top: rows }
}

const barCells = 24

/** The summary for people. */
export function summaryLines(summary: Summary): readonly Line[] {
  const { addresses, bad_lines: bad, distinct_is_estimate: isEstimate } = summary
  const distinct = `${isEstimate ? 'about ' : ''}${formatCount(summary.distinct_addresses)} different`
  const badText = bad === 0 ? '' : `; ${formatCount(bad)} lines name none`
  const lists: readonly (readonly [string, Shares<object>, readonly string[]])[] = [
    ['classification', summary.classifications, classNames(summary)],
    ['provider', summary.providers, summary.providers.top.map(({ provider }) => provider)],
    [
      'network',
      summary.asns,
      summary.asns.top.map(({ asn, organization }) => `AS${asn} ${organization}`),
    ],
    [
      'country',
      summary.countries,
      summary.countries.top.map(({ country_code, country }) => `${country_code} ${country}`),
    ],
  ]
  const width = Math.max(...lists.flatMap(([title, , names]) => [title, ...names].map(lengthOf)))
  return [
    `${formatCount(addresses)} addresses, ${distinct}${badText}`,
    ...lists.flatMap(([title, shares, names]) => [
      '',
      ...listLines({ title, shares, names, width: Math.min(width, nameCharsMax) }),
    ]),
    '',
    `table ${summary.table.id}, as of ${summary.table.as_of}`,
  ]
}

const nameCharsMax = 44

function classNames({ classifications }: Summary): readonly string[] {
  return classifications.top.map(({ classification }) => classification)
}

const lengthOf = (text: string): number => text.length

function listLines(list: {
  readonly title: string
  readonly shares: Shares<object>
  readonly names: readonly string[]
  readonly width: number
}): readonly Line[] {
  const { title, shares, names, width } = list
  if (shares.top.length === 0) return [`${title}: none`]
  const rows = shares.top.map(({ addresses, percent }, index) => [
    truncateName(names[index] ?? '').padEnd(width),
    formatCount(addresses),
    `${percent.toFixed(2)} %`,
  ])
  const [head = '', ...lines] = alignColumns(
    [[title.padEnd(width), 'addresses', 'share'], ...rows],
    1,
  )
  const others = shares.count - shares.top.length
  return [
    head,
    ...lines.map((line, index) => withBar(line, shares.top[index]?.percent ?? 0)),
    ...(others === 0 ? [] : [`and ${formatCount(others)} more`]),
  ]
}

function truncateName(name: string): string {
  return name.length <= nameCharsMax ? name : `${name.slice(0, nameCharsMax - 1)}…`
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const

/** Behind it `percent` of a whole bar, to an eighth of a cell. */
function withBar(line: string, percent: number): Line {
  const parts = Math.round((percent / 100) * barCells * 8)
  const text = '█'.repeat(parts >>> 3) + (eighths[parts & 7] ?? '')
  return text === '' ? line : [`${line}  `, { text, style: 'cyan' }]
}
