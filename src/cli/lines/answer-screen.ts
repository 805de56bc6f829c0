// Answers as rows on a terminal, fitted to its width. Rows come in batches: columns may widen but
// never narrow again.
//   9.1.2.3          tor   81  very_high   AS64496  Example Access (isp)  Berlin, DE  also …
// For pipes, where speed counts: src/bulk/rows/text-row.ts.

import type { CheckAnswer } from '../../api/check-answer.ts'
import { escapeControls } from '../../base/text/clean-text.ts'
import { answerDetails } from '../../bulk/rows/text-row.ts'
import { levelStyles, type Line } from '../terminal/io.ts'

type Result = CheckAnswer | { readonly ip: string; readonly error: { readonly message: string } }

/** The last three are cut to fit the screen. */
const columnNames = ['ip', 'class', 'score', 'level', 'asn', 'owner', 'place', 'more'] as const
type Column = (typeof columnNames)[number]
type Cells = Readonly<Record<Column, string>>

const alignedRight: ReadonlySet<Column> = new Set(['score', 'asn'])

/** Widths of most answers, so that rows that come alone line up. */
const leastWidths: Partial<Record<Column, number>> = { ip: 15, score: 3, level: 9, asn: 8 }
/** Longer names do not widen a column. */
const nameCharsMax = 40
/** Texts are cut in this order, first to these lengths, then to nothing. */
const cutOrder = [
  ['owner', 16],
  ['more', 12],
  ['place', 8],
] as const

const gap = '  '
const decoder = new TextDecoder()

export function newAnswerScreen(columns = Infinity): (bytes: Uint8Array) => readonly Line[] {
  const widths = Object.fromEntries(
    columnNames.map((name) => [name, leastWidths[name] ?? 0]),
  ) as Record<Column, number>
  return (bytes) => {
    const texts = decoder.decode(bytes).split('\n')
    const results = texts.filter(Boolean).map((text) => JSON.parse(text) as Result)
    const rows = results.map((result) => ('error' in result ? undefined : cellsOf(result)))
    for (const name of columnNames) {
      const longest = Math.max(0, ...rows.map((row) => row?.[name].length ?? 0))
      const most = name === 'ip' ? longest : Math.min(longest, nameCharsMax)
      widths[name] = Math.max(widths[name], most)
    }
    const fitting = fitWidths(widths, columns)
    return results.map((result, index): Line => {
      const cells = rows[index]
      if (cells !== undefined && !('error' in result)) return rowOf(cells, result, fitting)
      const message = 'error' in result ? result.error.message : ''
      return [{ text: JSON.stringify(result.ip), style: 'red' }, `: ${message}`]
    })
  }
}

function cellsOf(answer: CheckAnswer): Cells {
  const { network, location, lists } = answer
  const listed = lists === undefined ? [] : [`on ${lists.join(', ')}`]
  const place = [location?.city, location?.country_code].filter(Boolean).join(', ')
  return {
    ip: answer.ip,
    class: answer.classification,
    score: String(answer.risk_score),
    level: answer.risk_level,
    asn: network === null ? '-' : `AS${network.asn}`,
    owner: network === null ? '' : escapeControls(`${network.organization} (${network.type})`),
    place: escapeControls(place),
    more: escapeControls([...answerDetails(answer), ...listed].join(gap)),
  }
}

function fitWidths(widths: Readonly<Record<Column, number>>, columns: number): typeof widths {
  const fitting = { ...widths }
  const lineWidth = (): number =>
    columnNames.reduce((sum, name) => sum + fitting[name] + gap.length, -gap.length)
  for (const leastOf of [(least: number) => least, () => 0]) {
    for (const [name, least] of cutOrder) {
      const over = Math.max(0, lineWidth() - columns)
      fitting[name] = Math.max(Math.min(leastOf(least), fitting[name]), fitting[name] - over)
    }
  }
  return fitting
}

function rowOf(cells: Cells, answer: CheckAnswer, widths: Readonly<Record<Column, number>>): Line {
  const shown = columnNames.filter((name) => widths[name] > 0)
  const texts = shown.map((name) => {
    const text = cutText(cells[name], widths[name])
    return alignedRight.has(name) ? text.padStart(widths[name]) : text.padEnd(widths[name])
  })
  const at = shown.indexOf('class')
  const before = texts.slice(0, at).join(gap)
  const behind = texts.slice(at + 1).join(gap)
  return [
    `${before}${gap}`,
    { text: texts[at] ?? '', style: levelStyles[answer.risk_level] },
    `${gap}${behind}`.trimEnd(),
  ]
}

const cutText = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, width - 1)}…`
