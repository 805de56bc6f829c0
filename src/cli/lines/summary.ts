// The tallies of all batches (src/bulk/line-tally.ts) as one summary by name, largest first.

import { addTo, largestSums } from '../../base/counts.ts'
import { formatDay } from '../../base/day.ts'
import { type CountPairs, type LineTally } from '../../bulk/line-tally.ts'
import { verdictProvider } from '../../model/verdict.ts'
import { readCountry } from '../../table/file/location-record.ts'
import { readNetwork } from '../../table/file/network-record.ts'
import type { OpenTable } from '../../table/open-table.ts'
import { readVerdict } from '../../table/file/verdict-record.ts'
import type { BulkResult } from './bulk-run.ts'
import { newCardinality } from './cardinality.ts'
import { formatIpv4 } from '../../ip/format-address.ts'
import { type Classification, classifications } from '../../model/kind.ts'
import { bogonVerdict } from '../../score/bogon-verdict.ts'
import { newTopCounts, type TopCounts } from '../../compare/top-counts.ts'

export type Share = ReturnType<typeof shareOf>

export interface Shares<Row> {
  readonly count: number
  readonly top: readonly (Row & Share)[]
}

/** What `summarize --json` prints. Shares count repeated addresses. */
export type Summary = ReturnType<ReturnType<typeof newSummarizer>['summary']>

export type ClassSplit = Partial<Readonly<Record<Classification, number>>>

type Counts = Map<number, number>

export function newSummarizer(table: OpenTable, top: number) {
  const { views, strings } = table.reader
  const verdicts: Counts = new Map()
  const networks: Counts = new Map()
  const countries: Counts = new Map()
  const distinct = newCardinality()
  const seen = newTopCounts(1)
  const newSplit = (): TopCounts => newTopCounts(classifications.length)
  const splits = { paths: newSplit(), statuses: newSplit(), times: newSplit() }
  let bogons = 0
  return {
    add: (tally: LineTally): void => {
      bogons += tally.bogons
      addPairs(verdicts, tally.verdicts)
      addPairs(networks, tally.networks)
      addPairs(countries, tally.countries)
      distinct.add(tally.hashes)
      const { ipv4, ipv6 } = tally
      for (let at = 0; at < ipv4.length; at += 2) seen.add(formatIpv4(ipv4[at]!), [ipv4[at + 1]!])
      for (const [text, count] of ipv6) seen.add(text, [count])
      for (const name of ['paths', 'statuses', 'times'] as const) {
        for (const [key, counts] of tally[name]) splits[name].add(key, counts)
      }
    },
    summary: ({ lines, addresses, bad }: Pick<BulkResult, 'lines' | 'addresses' | 'bad'>) => {
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
      const size = { top, all: addresses }
      const systems = ases.map(([as, number]) => [as?.asn ?? 0, number] as const)
      return {
        table: { id: table.id, as_of: formatDay(table.asOf) },
        coverage: table.reader.coverage,
        lines,
        addresses,
        bad_lines: bad,
        distinct_addresses: distinctCount,
        /** Above half a million; nearly always within 0.5 percent. */
        distinct_is_estimate: isEstimate,
        classifications: largestShares(
          classes,
          { top: classifications.length, all: addresses },
          (classification) => ({ classification }),
        ),
        providers: largestShares(providers, size, (provider) => ({ provider })),
        asns: largestShares(systems, size, (asn) => ({
          asn,
          organization: organizations.get(asn) ?? '',
        })),
        countries: largestShares(countries, size, (id) => countryName(table, id)),
        scores: scoreBands(bogons, judged, addresses),
        /** Beyond 200,000 distinct ones the counts may be slightly low. */
        top_addresses: { count: distinctCount, top: topAddresses(table, seen, size) },
        ...logSplits(splits, size),
        ...timeSplits(splits.times, addresses),
      }
    },
  }
}

function countryName({ reader: { views, strings } }: OpenTable, id: number) {
  const { country_code, country } = readCountry(views.countries, id, strings)
  return { country_code, country }
}

function shareOf(addresses: number, all: number) {
  return { addresses, percent: Math.round((addresses / all) * 10_000) / 100 }
}

/** In order; hours and days without a request are left out. */
function timeSplits(times: TopCounts, all: number) {
  const { top } = splitOf(times, { top: Infinity, all }, (time) => ({ time }))
  return top.length === 0 ? {} : { times: top.toSorted((a, b) => (a.time < b.time ? -1 : 1)) }
}

interface ListSize {
  readonly top: number
  readonly all: number
}

function topAddresses(table: OpenTable, seen: TopCounts, { top, all }: ListSize) {
  return seen.top(top).map(([ip, counts]) => {
    const answer = table.check(ip)
    return {
      ip,
      classification: answer?.classification ?? '',
      risk_score: answer?.risk_score ?? 0,
      ...shareOf(counts[0] ?? 0, all),
    }
  })
}

function logSplits(
  { paths, statuses }: Readonly<Record<'paths' | 'statuses', TopCounts>>,
  how: ListSize,
) {
  if (statuses.size() + paths.size() === 0) return {}
  return {
    paths: splitOf(paths, how, (path) => ({ path })),
    statuses: splitOf(statuses, how, (status) => ({ status })),
  }
}

function scoreBands(
  bogons: number,
  judged: readonly (readonly [verdict: { readonly score: number }, addresses: number])[],
  all: number,
) {
  const counts = [[bogonVerdict, bogons] as const, ...judged]
  return Array.from({ length: 10 }, (_, band) => {
    const from = band * 10
    const to = band === 9 ? 100 : from + 9
    const own = counts.filter(([{ score }]) => score >= from && score <= to)
    const sum = own.reduce((sum, [, addresses]) => sum + addresses, 0)
    return { from, to, ...shareOf(sum, Math.max(1, all)) }
  })
}

function splitOf<Row>(
  counts: TopCounts,
  how: ListSize,
  rowOf: (key: string) => Row,
): Shares<Row & { readonly classifications: ClassSplit }> {
  const top = counts.top(how.top).map(([key, byClass]) => {
    const found = classifications.flatMap((name, i) => {
      const count = byClass[i] ?? 0
      return count > 0 ? [[name, count] as const] : []
    })
    const addresses = found.reduce((sum, [, count]) => sum + count, 0)
    const split = Object.fromEntries(found) as ClassSplit
    return { ...rowOf(key), ...shareOf(addresses, how.all), classifications: split }
  })
  return { count: counts.size(), top }
}

function addPairs(counts: Counts, pairs: CountPairs): void {
  for (let at = 0; at < pairs.length; at += 2) addTo(counts, pairs[at]!, pairs[at + 1])
}

/** Merges equal keys, drops '' and 0; ties are ordered by key. */
function largestShares<Key extends string | number, Row>(
  counts: Iterable<readonly [Key, number]>,
  { top, all }: ListSize,
  rowOf: (key: Key) => Row,
): Shares<Row> {
  const sorted = largestSums(counts).filter(
    ([key, number]) => key !== '' && key !== 0 && number > 0,
  )
  const shown = sorted.slice(0, top)
  const rows = shown.map(([key, addresses]) => ({ ...rowOf(key), ...shareOf(addresses, all) }))
  return { count: sorted.length, top: rows }
}
