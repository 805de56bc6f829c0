// An answer as a short line for people: address, classification, score and level, network, place,
// provider, other signals. Columns are padded to align lines; a line says what the answer says
// (src/table/answer/check-address.ts).
//
// As in rows of CSV, texts of verdicts and networks are made at their first use and cached by id;
// places are copied from the table. Texts may say anything: what would steer a terminal is escaped.

import { addressFaultText } from '../api/input-fault.ts'
import { escapeControls } from '../base/control-characters.ts'
import { signalNames } from '../model/kind.ts'
import { riskLevelOf } from '../model/risk-level.ts'
import { type Verdict, verdictProvider } from '../model/verdict.ts'
import type { AnswerReader } from '../table/answer/answer-reader.ts'
import { prefetchStrings } from '../table/lookup/lookup-batch.ts'
import { locationStringFinder } from '../table/file/location-record.ts'
import {
  appendCached,
  networkTextCache,
  prefetchNetworkTexts,
  verdictTextCache,
} from './text-cache.ts'
import { appendQueryText } from './ipv4-line.ts'
import type { GrowingBuffer } from './growing-buffer.ts'
import type { RowWriter } from './csv-row.ts'
import { appendSlice, appendText } from './output-buffer.ts'
import { openTableTexts, appendString } from './table-text.ts'

/** The longest address of IPv4. */
const addressWidth = 15
/** Nearly all labels fit; the longest are a little longer. */
const verdictWidth = 28

const gap = Buffer.from('  ')
const spaces = Buffer.alloc(addressWidth, ' ')
const comma = Buffer.from(', ')
const placeTexts = ['city', 'country_code'] as const

export function openTextRows(reader: AnswerReader): RowWriter {
  const { views } = reader
  const labels = verdictTextCache(reader, (verdict) => escapeControls(verdictLabel(verdict)))
  const details = verdictTextCache(
    reader,
    (verdict) => `${escapeControls(detailsLabel(verdict))}\n`,
  )
  const networks = networkTextCache(reader, '  -', ({ asn, organization, type }) =>
    escapeControls(`  AS${asn} ${organization} (${type})`),
  )
  const texts = openTableTexts(reader, escapeControls)
  const offsets = views.string_offsets
  const placeIds = placeTexts.map((member) => locationStringFinder(views, member))
  /** City and country, as far as they are known. */
  const writePlace = (location: number, out: GrowingBuffer): void => {
    let separator = gap
    for (const idOf of placeIds) {
      const id = idOf(location)
      if (offsets[id] === offsets[id + 1]) continue
      appendSlice(out, separator, 0, separator.length)
      appendString(out, texts, id)
      separator = comma
    }
  }
  return {
    prefetch: (batch) => {
      prefetchNetworkTexts(batch, networks)
      for (const idOf of placeIds) prefetchStrings(batch, views, idOf)
    },
    write: (query, { bogon, verdict, network, location }, out) => {
      appendQueryText(out, query)
      appendSlice(out, spaces, Math.min(query.to - query.from, addressWidth), addressWidth)
      const number = bogon ? 0 : verdict + 1
      appendCached(out, labels, number)
      appendCached(out, networks, bogon ? 0 : network)
      if (!bogon && location !== 0) writePlace(location, out)
      appendCached(out, details, number)
    },
    writeInvalid: (text, out) => {
      // In quotes: it may look like a line of ours.
      appendText(out, `${escapeControls(`${JSON.stringify(text)}: ${addressFaultText(text)}`)}\n`)
    },
  }
}

function verdictLabel({ classification, score }: Verdict): string {
  return `  ${`${classification} ${score} ${riskLevelOf(score)}`.padEnd(verdictWidth)}`
}

function detailsLabel(verdict: Verdict): string {
  const { classification, signals } = verdict
  const provider = verdictProvider(verdict)
  const others = signalNames.filter((name) => signals[name] && name !== classification)
  const by = provider === '' ? '' : `  by ${provider}`
  const also = others.length === 0 ? '' : `  also ${others.join(', ')}`
  return `${by}${also}`
}
