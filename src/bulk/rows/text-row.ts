// An answer as a short line for people: address, classification, score and level, network, place,
// provider, bot, other signals. Columns are padded to align lines; a line says what the answer says
// (src/table/answer/check-address.ts).
//
// As in rows of CSV, texts of verdicts and networks are made at their first use and cached by id;
// places are copied from the table. Texts may say anything: what would steer a terminal is escaped.

import { addressFaultText } from '../../api/input-fault.ts'
import { escapeControls } from '../../base/text/control-characters.ts'
import { classifications, levels } from '../../model/kind.ts'
import { addressCharsMax } from '../../ip/parse-address.ts'
import { riskLevelOf } from '../../model/risk-level.ts'
import type { Verdict } from '../../model/verdict.ts'
import type { AnswerReader } from '../../table/answer/answer-reader.ts'
import type { ListMatch } from '../../lists/list-matcher.ts'
import { listedVerdict, listsOf } from '../../table/answer/own-lists.ts'
import { readVerdict } from '../../table/file/verdict-record.ts'
import { prefetchLocationRuns } from '../../table/lookup/lookup-batch.ts'
import {
  appendCached,
  networkTextCache,
  prefetchNetworkTexts,
  verdictTextCache,
} from './text-cache.ts'
import { appendQueryText } from './ipv4-line.ts'
import type { GrowingBuffer } from '../growing-buffer.ts'
import type { RowWriter } from './csv-row.ts'
import { appendSlice, appendText } from '../output-buffer.ts'
import { answerDetails } from './answer-details.ts'
import { openPlaceText } from './place-text.ts'
import { openTableTexts } from './table-text.ts'

/** The longest of each. */
const classWidth = Math.max(...classifications.map(({ length }) => length))
const levelWidth = Math.max(...levels.map(({ length }) => length))
/** Six digits; few numbers have more. */
const asnWidth = 8

const gap = Buffer.from('  ')
const spaces = Buffer.alloc(addressCharsMax, ' ')
const comma = Buffer.from(', ')

/** `addressWidth`: of the first column (address-width.ts). */
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
  /** City and country, as far as they are known. */
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
      // In quotes: it may look like a line of ours.
      appendText(out, `${escapeControls(`${JSON.stringify(text)}: ${addressFaultText(text)}`)}\n`)
    },
  }
}

function verdictLabel({ classification, score }: Verdict): string {
  const level = riskLevelOf(score).padEnd(levelWidth)
  return `  ${classification.padEnd(classWidth)}  ${String(score).padStart(3)}  ${level}`
}

function listsLabel(match: ListMatch | undefined): string {
  return match === undefined ? '' : `  on ${match.names.join(', ')}`
}

function detailsLabel(verdict: Verdict): string {
  return answerDetails(verdict)
    .map((text) => `  ${text}`)
    .join('')
}
