// `iprisk summarize`: shares of the addresses of files by classification, provider, network and
// country, a histogram of scores, and for access logs paths and statuses.

import { alignColumns } from '../../base/text/align-columns.ts'
import { moreText } from '../../base/text/shortened-list.ts'
import { formatCount, formatCounted } from '../../base/text/number-format.ts'
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
  const distinct = `${isEstimate ? 'about ' : ''}${formatCount(summary.distinct_addresses)} distinct`
  const badText = bad === 0 ? '' : `; ${formatCounted(bad, 'line', 'lines')} without an address`
  const { scores, paths, statuses, times } = summary
  const lists = [
    listOf('classification', summary.classifications, (one) => one.classification),
    listOf('provider', summary.providers, (one) => one.provider),
    listOf('network', summary.asns, ({ asn, organization }) => `AS${asn} ${organization}`),
    listOf('country', summary.countries, (one) => `${one.country_code} ${one.country}`),
    listOf('score', allOf(scores), ({ from, to }) => `${String(from).padStart(2)} to ${to}`),
    listOf(
      'address',
      summary.top_addresses,
      (one) => `${one.ip} ${one.classification} ${one.risk_score}`,
    ),
    ...(paths === undefined ? [] : [listOf('path', paths, (one) => one.path + splitText(one))]),
    ...(statuses === undefined
      ? []
      : [listOf('status', statuses, (one) => one.status + splitText(one))]),
    ...(times === undefined
      ? []
      : [listOf(timeTitle, allOf(times), (one) => one.time.replace('T', ' ') + splitText(one))]),
  ]
  const names = lists.flatMap(({ title, rows }) => [title, ...rows.map(({ name }) => name)])
  const width = Math.min(Math.max(...names.map(({ length }) => length)), nameCharsMax)
  return [
    `${formatCounted(addresses, 'address', 'addresses')}, ${distinct}${badText}`,
    ...lists.flatMap((list) => ['', ...listLines(list, width)]),
    '',
    `table ${summary.table.id}, as of ${summary.table.as_of}`,
  ]
}

function listOf<Row>(
  title: string,
  { count, top }: Shares<Row>,
  nameOf: (row: Row & Share) => string,
) {
  const rows = top.map((row) => ({ ...row, name: nameOf(row) }))
  return { title, count, rows: rows as readonly (Share & { readonly name: string })[] }
}

const allOf = <Row>(top: readonly (Row & Share)[]): Shares<Row> => ({ count: top.length, top })

function splitText({
  addresses,
  classifications,
}: Share & { readonly classifications: ClassSplit }): string {
  const parts = Object.entries(classifications)
    .filter(([name]) => name !== 'clean')
    .sort(([, a], [, b]) => b - a)
    .slice(0, 2)
    .map(([name, count]) => `${name} ${Math.round((count / addresses) * 100)} %`)
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

const timeTitle = 'time (UTC)'

const nameCharsMax = 60

function listLines(
  { title, count, rows }: ReturnType<typeof listOf>,
  width: number,
): readonly Line[] {
  if (rows.length === 0) return [`${title}: none`]
  const cells = rows.map(({ name, addresses, percent }) => [
    truncateName(name).padEnd(width),
    formatCount(addresses),
    `${percent.toFixed(2)} %`,
  ])
  const [head = '', ...lines] = alignColumns(
    [[title.padEnd(width), 'addresses', 'share'], ...cells],
    1,
  )
  const more = moreText(count - rows.length, formatCount)
  // Each time is a small part of the whole, so bars are relative to the busiest.
  const most = title === timeTitle ? Math.max(...rows.map(({ percent }) => percent)) : 100
  return [
    head,
    ...lines.map((line, index) => withBar(line, ((rows[index]?.percent ?? 0) / most) * 100)),
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
