// `iprisk summarize`: shares of the addresses of files by classification, provider, network and
// country, a histogram of scores, and for access logs paths and statuses.

import { alignColumns } from '../../base/text/align-columns.ts'
import { moreText } from '../../base/text/shortened-list.ts'
import { formatCount } from '../../base/text/number-format.ts'
import { coverageGaps } from '../terminal/coverage-lines.ts'
import { type Command, interruptedCode, type Line, printResult } from '../terminal/io.ts'
import { tallyRun } from './bulk-run.ts'
import { judgeBadLines } from './check-command.ts'
import { lineFormatDetector } from './line-format.ts'
import { pinTable } from './pin-table.ts'
import { type ClassSplit, newSummarizer, type Share, type Shares, type Summary } from './summary.ts'

export const summarizeCommand: Command<Promise<number>> = async (settings, io, inputs) => {
  const { invocation: how } = settings
  const detectFormat = lineFormatDetector(how)
  const pinned = await pinTable(settings.table)
  try {
    const { add, summary: summaryOf } = newSummarizer(pinned.table, how.top)
    const result = await tallyRun({ inputs, table: pinned, detectFormat, output: 'tally', add }, io)
    if (result.interrupted) return interruptedCode
    const summary = summaryOf(result)
    printResult(io, how.json, summary, () => summaryLines(summary))
    if (!how.json) for (const line of coverageGaps(summary.coverage)) io.err(line)
    return judgeBadLines(result, how.strict, io)
  } finally {
    pinned.close()
  }
}

const barCells = 24

function summaryLines(summary: Summary): readonly Line[] {
  const { addresses, bad_lines: bad, distinct_is_estimate: isEstimate } = summary
  const distinct = `${isEstimate ? 'about ' : ''}${formatCount(summary.distinct_addresses)} different`
  const badText = bad === 0 ? '' : `; ${formatCount(bad)} lines name none`
  const lists: readonly (readonly [string, Shares<object>, readonly string[]])[] = [
    [
      'classification',
      summary.classifications,
      summary.classifications.top.map(({ classification }) => classification),
    ],
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
    [
      'score',
      { count: summary.scores.length, top: summary.scores },
      summary.scores.map(({ from, to }) => `${String(from).padStart(2)} to ${to}`),
    ],
    [
      'address',
      summary.top_addresses,
      summary.top_addresses.top.map((one) => `${one.ip} ${one.classification} ${one.risk_score}`),
    ],
    ['path', ...splitList(summary.paths, ({ path }) => path)],
    ['status', ...splitList(summary.statuses, ({ status }) => status)],
    [timeTitle, ...timeList(summary.times)],
  ]
  const isLog = summary.paths !== undefined
  const shown = lists.filter(
    ([title, { top }]) =>
      (isLog || !logLists.has(title)) && (title !== timeTitle || top.length > 0),
  )
  const width = Math.max(
    ...shown.flatMap(([title, , names]) => [title, ...names].map(({ length }) => length)),
  )
  return [
    `${formatCount(addresses)} addresses, ${distinct}${badText}`,
    ...shown.flatMap(([title, shares, names]) => [
      '',
      ...listLines({ title, shares, names, width: Math.min(width, nameCharsMax) }),
    ]),
    '',
    `table ${summary.table.id}, as of ${summary.table.as_of}`,
  ]
}

const logLists: ReadonlySet<string> = new Set(['path', 'status'])

interface SplitRow {
  readonly classifications: ClassSplit
}

/** Names with the share of requests that was not clean. */
function splitList<Row extends SplitRow>(
  shares: Shares<Row> = { count: 0, top: [] },
  nameOf: (row: Row & Share) => string,
): readonly [Shares<object>, readonly string[]] {
  return [shares, shares.top.map((row) => `${nameOf(row)}${splitText(row)}`)]
}

function splitText({ addresses, classifications }: SplitRow & Share): string {
  const parts = Object.entries(classifications)
    .filter(([name]) => name !== 'clean')
    .sort(([, a], [, b]) => b - a)
    .slice(0, 2)
    .map(([name, count]) => `${name} ${Math.round((count / addresses) * 100)} %`)
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

const timeTitle = 'time (UTC)'

function timeList(times: Summary['times'] = []): readonly [Shares<object>, readonly string[]] {
  return splitList({ count: times.length, top: times }, ({ time }) => time.replace('T', ' '))
}

const nameCharsMax = 60

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
  const more = moreText(shares.count - shares.top.length, formatCount)
  // Of times each is a small part of all: they are compared with the busiest.
  const most = title === timeTitle ? Math.max(...shares.top.map(({ percent }) => percent)) : 100
  return [
    head,
    ...lines.map((line, index) => withBar(line, ((shares.top[index]?.percent ?? 0) / most) * 100)),
    ...(more === '' ? [] : [more]),
  ]
}

function truncateName(name: string): string {
  return name.length <= nameCharsMax ? name : `${name.slice(0, nameCharsMax - 1)}…`
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const

/** A bar of `percent`, to an eighth of a cell. */
function withBar(line: string, percent: number): Line {
  const parts = Math.round((percent / 100) * barCells * 8)
  const text = '█'.repeat(parts >>> 3) + (eighths[parts & 7] ?? '')
  return text === '' ? line : [`${line}  `, { text, style: 'cyan' }]
}
