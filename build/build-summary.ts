// The build report on one screen: totals, what is missing or was kept out, where to find it all.

import { alignColumns } from '../src/base/text/align-columns.ts'
import { joinFew } from '../src/base/text/shortened-list.ts'
import { formatCount, formatMegabytes } from '../src/base/text/number-format.ts'
import type { BuildReport, DataSetReport, FeedReport } from './build-report.ts'
import { statesText } from './fetch-report.ts'

/** What fits a screen; the report has everything. */
const namesShownMax = 12
const quarantinesShownMax = 4
const reasonCharsMax = 140
const problemCharsMax = 60

export function buildSummary(report: BuildReport, reportPath: string): readonly string[] {
  const { table, feeds, data_sets: dataSets } = report
  const total = (of: (feed: FeedReport) => number): number =>
    feeds.reduce((sum, feed) => sum + of(feed), 0)
  const dropped = total((feed) => Object.values(feed.dropped).reduce((sum, some) => sum + some, 0))
  const kinds = Object.entries(report.kinds).map(([kind, covered]) => [
    kind,
    formatCount(covered.ipv4),
    formatCount(covered.ipv6_64s),
  ])
  return [
    ...alignColumns([['listed as', 'IPv4 addresses', 'IPv6 /64s'], ...kinds], 1),
    '',
    `entries   ${formatCount(total(({ kept }) => kept))} taken, ${formatCount(dropped)} not`,
    `feeds     ${statesText(feeds)}`,
    ...missingLines(feeds),
    ...coverageLines(report.coverage),
    ...dataSets.map(dataSetLine),
    ...quarantineLines([...feeds, ...dataSets]),
    `table     ${table.id} as of ${table.as_of}, ${formatMegabytes(table.bytes)} MB, ` +
      `${formatCount(table.ipv4_boundaries)} IPv4 and ` +
      `${formatCount(table.ipv6_boundaries)} IPv6 boundaries`,
    `built in  ${report.seconds.toFixed(1)} s with ` +
      `${formatMegabytes(report.peak_bytes)} MB at peak`,
    `written   ${table.path}`,
    `report    ${reportPath}: every feed, stage and reason`,
  ]
}

function missingLines(feeds: readonly FeedReport[]): readonly string[] {
  const missing = feeds.flatMap(({ id, state, quarantined }) =>
    state === 'missing' && quarantined === undefined ? [id] : [],
  )
  if (missing.length === 0) return []
  const names = joinFew(missing, namesShownMax, { last: ', ' })
  return [`missing   ${names} (\`iprisk feeds list\` shows why)`]
}

/** `networks  of 2026-06-17, embedded: status 403`. */
function dataSetLine({ kind, day, state, problem }: DataSetReport): string {
  const why = problem === undefined ? '' : `: ${short(problem, problemCharsMax)}`
  return `${kind.padEnd(10)}of ${day}, ${state}${why}`
}

function quarantineLines(feeds: readonly Pick<FeedReport, 'id' | 'quarantined'>[]) {
  const lines = feeds.flatMap(({ id, quarantined }) => {
    if (quarantined === undefined) return []
    const why = short(quarantined.reasons.join('; '), reasonCharsMax)
    return [`kept out  ${id}: ${why} (${quarantined.instead} is used)`]
  })
  const more = lines.length - quarantinesShownMax
  return more <= 0
    ? lines
    : [...lines.slice(0, quarantinesShownMax), `kept out  ${more} more feeds`]
}

function coverageLines(coverage: BuildReport['coverage']): readonly string[] {
  const gaps = coverage.flatMap(({ kind, state }) => (state === 'full' ? [] : [`${kind} ${state}`]))
  return gaps.length === 0 ? [] : [`unknown   ${gaps.join(', ')}`]
}

const short = (text: string, charsMax: number): string =>
  text.length > charsMax ? `${text.slice(0, charsMax)}…` : text
