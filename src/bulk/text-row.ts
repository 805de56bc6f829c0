// An answer as a short line for people: address, classification, score and level, network, place,
// who provides it, what else is known. Columns are padded, so that lines stand below each other; what
// a line says is what the answer says (src/table/answer/check-address.ts).
//
// As in rows of CSV, what a verdict or a network says is made at its first use and kept by its
// number; places are copied from the table.

import { invalidAddress } from '../api/api-error.ts'
import { signalNames } from '../model/kind.ts'
import { riskLevelOf } from '../model/risk-level.ts'
import type { Verdict } from '../model/verdict.ts'
import { networkWords, verdictWords } from '../schema/table-layout.ts'
import { bogonVerdict } from '../score/bogon-verdict.ts'
import type { AnswerReader } from '../table/answer/answer-reader.ts'
import { prefetchStrings } from '../table/lookup/lookup-batch.ts'
import { locationStringFinder } from '../table/file/location-record.ts'
import { readNetwork } from '../table/file/network-record.ts'
import { readVerdict } from '../table/file/verdict-record.ts'
import { newTextCache, appendCached, prefetchNetworkTexts } from './text-cache.ts'
import { appendQueryText } from './ipv4-line.ts'
import type { GrowingBuffer } from './growing-buffer.ts'
import type { RowWriter } from './csv-row.ts'
import { appendSlice, appendText } from './output-buffer.ts'
import { openTableTexts, appendString } from './table-text.ts'

/** The longest address of IPv4. */
const addressWidth = 15
/** The longest of them are a little longer. */
const verdictWidth = 28

const gap = Buffer.from('  ')
const spaces = Buffer.alloc(addressWidth, ' ')
const comma = Buffer.from(', ')
const placeTexts = ['city', 'country_code'] as const

export function openTextRows(reader: AnswerReader): RowWriter {
  const { views, strings } = reader
  const verdictCount = views.verdicts.length / verdictWords
  const verdictOf = (id: number): Verdict =>
    id === verdictCount ? bogonVerdict : readVerdict(views, id, strings)
  // What stands before and behind that which the address itself decides.
  const befores = newTextCache(verdictCount + 1, (id) => verdictLabel(verdictOf(id)))
  const behinds = newTextCache(verdictCount + 1, (id) => detailsLabel(verdictOf(id)))
  const networks = newTextCache(views.networks.length / networkWords + 1, (id) => {
    if (id === 0) return '  -'
    const { asn, organization, type } = readNetwork(views.networks, id, strings)
    return `  AS${asn} ${organization} (${type})`
  })
  const texts = openTableTexts(reader, String)
  const offsets = views.string_offsets
  const placeIds = placeTexts.map((member) => locationStringFinder(views, member))
  /** City and country, as far as they are known. */
  const putPlace = (location: number, out: GrowingBuffer): void => {
    let before = gap
    for (const idOf of placeIds) {
      const id = idOf(location)
      if (offsets[id] === offsets[id + 1]) continue
      appendSlice(out, before, 0, before.length)
      appendString(out, texts, id)
      before = comma
    }
  }
  return {
    prefetch: (group) => {
      prefetchNetworkTexts(group, networks)
      for (const idOf of placeIds) prefetchStrings(group, views, idOf)
    },
    write: (query, { bogon, verdict, network, location }, out) => {
      appendQueryText(out, query)
      appendSlice(out, spaces, Math.min(query.to - query.from, addressWidth), addressWidth)
      const id = bogon ? verdictCount : verdict
      appendCached(out, befores, id)
      appendCached(out, networks, bogon ? 0 : network)
      if (!bogon && location !== 0) putPlace(location, out)
      appendCached(out, behinds, id)
    },
    writeInvalid: (text, out) => appendText(out, `${text}: ${invalidAddress.message}\n`),
  }
}

function verdictLabel({ classification, score }: Verdict): string {
  return `  ${`${classification} ${score} ${riskLevelOf(score)}`.padEnd(verdictWidth)}`
}

/** To the end of the line. */
function detailsLabel({ classification, proxy, bot, signals }: Verdict): string {
  const provider = (proxy?.provider ?? '') || (bot?.provider ?? '')
  const others = signalNames.filter((name) => signals[name] && name !== classification)
  const by = provider === '' ? '' : `  by ${provider}`
  const also = others.length === 0 ? '' : `  also ${others.join(', ')}`
  return `${by}${also}\n`
}
