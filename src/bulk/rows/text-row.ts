// An answer as a short line for people: address, classification, score and level, network, place,
// provider, bot, other signals (src/table/answer/check-address.ts), padded to columns.
//
// As in rows of CSV, texts of verdicts and networks are cached by id, and places are copied from
// the table. Terminal control characters are escaped.

import { addressFaultText } from '../../api/input-fault.ts'
import { escapeControls } from '../../base/text/clean-text.ts'
import { addressCharsMax } from '../../ip/parse-address.ts'
import type { ListMatch } from '../../lists/list-matcher.ts'
import {
  type Classification,
  classifications,
  levels,
  riskLevelOf,
  signalNames,
  type Signals,
} from '../../model/kind.ts'
import type { Verdict } from '../../model/verdict.ts'
import type { AnswerReader } from '../../table/answer/answer-reader.ts'
import { listedVerdict, listsOf } from '../../table/answer/own-lists.ts'
import { readVerdict } from '../../table/file/verdict-record.ts'
import { prefetchLocationRuns } from '../../table/lookup/lookup-batch.ts'
import type { GrowingBuffer } from '../growing-buffer.ts'
import { findLineField, type LineFormat, type Span } from '../line-field.ts'
import { appendSlice, appendText } from '../output-buffer.ts'
import type { RowWriter } from './csv-row.ts'
import { appendQueryText } from './ipv4-line.ts'
import { openPlaceText, openTableTexts } from './place-text.ts'
import {
  appendCached,
  networkTextCache,
  prefetchNetworkTexts,
  verdictTextCache,
} from './text-cache.ts'

const classWidth = Math.max(...classifications.map(({ length }) => length))
const levelWidth = Math.max(...levels.map(({ length }) => length))
/** Six digits; few numbers have more. */
const asnWidth = 8

const gap = Buffer.from('  ')
const spaces = Buffer.alloc(addressCharsMax, ' ')
const comma = Buffer.from(', ')

/** `addressWidth`: width of the first column. */
export function openTextRows(reader: AnswerReader, addressWidth: number): RowWriter {
  const { views, strings } = reader
  const labels = verdictTextCache(reader, (verdict) => escapeControls(verdictLabel(verdict)))
  const details = verdictTextCache(
    reader,
    (verdict) => `${escapeControls(detailsLabel(verdict))}\n`,
  )
  const networks = networkTextCache(
    reader,
    `  ${'-'.padStart(asnWidth)}`,
    ({ asn, organization, type }) =>
      escapeControls(`  ${`AS${asn}`.padStart(asnWidth)}  ${organization} (${type})`),
  )
  const texts = openTableTexts(reader, escapeControls)
  const place = (['city', 'country_code'] as const).map((member) =>
    openPlaceText(reader, texts, member),
  )
  /** City and country, if known. */
  const writePlace = (location: number, out: GrowingBuffer): void => {
    let separator = gap
    for (const { isEmpty, write } of place) {
      if (isEmpty(location)) continue
      appendSlice(out, separator, 0, separator.length)
      write(out, location)
      separator = comma
    }
  }
  return {
    prefetch: (batch) => {
      prefetchNetworkTexts(batch, networks)
      prefetchLocationRuns(batch, views)
    },
    write: (query, located, out) => {
      const { bogon, verdict, network, location } = located
      const match = listsOf(reader.lists, views, query.words, located)
      const listed =
        match === undefined ? undefined : listedVerdict(readVerdict(views, verdict, strings), match)
      appendQueryText(out, query)
      appendSlice(out, spaces, Math.min(query.to - query.from, addressWidth), addressWidth)
      const number = bogon ? 0 : verdict + 1
      if (listed === undefined) appendCached(out, labels, number)
      else appendText(out, escapeControls(verdictLabel(listed)))
      appendCached(out, networks, bogon ? 0 : network)
      if (!bogon && location !== 0) writePlace(location, out)
      if (listed === undefined) appendCached(out, details, number)
      else appendText(out, `${escapeControls(detailsLabel(listed))}${listsLabel(match)}\n`)
    },
    writeInvalid: (text, out) => {
      // In quotes, since it may look like an output line.
      appendText(out, `${escapeControls(`${JSON.stringify(text)}: ${addressFaultText(text)}`)}\n`)
    },
  }
}

function verdictLabel({ classification, score }: Verdict): string {
  const level = riskLevelOf(score).padEnd(levelWidth)
  return `  ${classification.padEnd(classWidth)}  ${String(score).padStart(3)}  ${level}`
}

const listsLabel = (match: ListMatch | undefined): string =>
  match === undefined ? '' : `  on ${match.names.join(', ')}`

function detailsLabel(verdict: Verdict): string {
  return answerDetails(verdict)
    .map((text) => `  ${text}`)
    .join('')
}

export const ipv4Chars = 15

const lineEnd = 0x0a
const span: Span = { bytes: new Uint8Array(0), from: 0, to: 0 }

/** From the first lines of an input: aligns IPv6 if there is any, and keeps IPv4 alone narrow. */
export function addressWidth(form: LineFormat, lines: Uint8Array): number {
  let width = ipv4Chars
  for (let from = 0, to = 0; from < lines.length; from = to + 1) {
    const found = lines.indexOf(lineEnd, from)
    to = found < 0 ? lines.length : found
    findLineField(form, lines, { from, to }, span)
    const chars = span.to - span.from
    if (chars > width && chars <= addressCharsMax) width = chars
  }
  return width
}

/**
 * The end of a line for people: who runs the proxy, the bot's name, and signals that the
 * classification does not imply.
 */
export function answerDetails(judged: {
  readonly classification: Classification
  readonly signals: Signals
  readonly proxy: { readonly provider: string } | null | undefined
  readonly bot: { readonly provider: string; readonly category: string } | null | undefined
}): readonly string[] {
  const { classification, signals, proxy, bot } = judged
  const by = proxy?.provider ?? ''
  const others = signalNames.filter((name) => signals[name] && name !== classification)
  return [
    ...(by === '' ? [] : [`by ${by}`]),
    ...(bot === null || bot === undefined
      ? []
      : [`bot ${bot.provider || 'unnamed'} (${bot.category})`]),
    ...(others.length === 0 ? [] : [`also ${others.join(', ')}`]),
  ]
}
