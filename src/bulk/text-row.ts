// An answer as a short line for people: address, classification, score and level, network, place,
// who provides it, what else is known. Columns are padded, so that lines stand below each other; what
// a line says is what the answer says (src/table/answer/check-address.ts).
//
// As in rows of CSV, what a verdict or a network says is made at its first use and kept by its
// number; places are copied from the table.

import { invalidAddress } from '../api/api-error.ts'
import { signalNames } from '../model/kind.ts'
import { levelOf } from '../model/risk-level.ts'
import type { Verdict } from '../model/verdict.ts'
import { networkWords, verdictWords } from '../schema/table-layout.ts'
import { bogonVerdict } from '../score/bogon-verdict.ts'
import type { Reader } from '../table/answer/answer-reader.ts'
import { touchTexts } from '../table/lookup/lookup-batch.ts'
import { locationStrings } from '../table/file/location-record.ts'
import { readNetwork } from '../table/file/network-record.ts'
import { readVerdict } from '../table/file/verdict-record.ts'
import { newKept, putKept, touchNetworks } from './text-cache.ts'
import { stageAsked } from './ipv4-line.ts'
import type { Room } from './growing-buffer.ts'
import type { Rows } from './csv-row.ts'
import { stageSpan, stageText } from './output-buffer.ts'
import { openTexts, stageString } from './table-text.ts'

/** The longest address of IPv4. */
const addressWidth = 15
/** The longest of them are a little longer. */
const verdictWidth = 28

const gap = Buffer.from('  ')
const spaces = Buffer.alloc(addressWidth, ' ')
const comma = Buffer.from(', ')
const placeTexts = ['city', 'country_code'] as const

export function openBriefs(reader: Reader): Rows {
  const { views, strings } = reader
  const verdictCount = views.verdicts.length / verdictWords
  const verdictOf = (id: number): Verdict =>
    id === verdictCount ? bogonVerdict : readVerdict(views, id, strings)
  // What stands before and behind that which the address itself decides.
  const befores = newKept(verdictCount + 1, (id) => beforeOf(verdictOf(id)))
  const behinds = newKept(verdictCount + 1, (id) => behindOf(verdictOf(id)))
  const networks = newKept(views.networks.length / networkWords + 1, (id) => {
    if (id === 0) return '  -'
    const { asn, organization, type } = readNetwork(views.networks, id, strings)
    return `  AS${asn} ${organization} (${type})`
  })
  const texts = openTexts(reader, String)
  const offsets = views.string_offsets
  const placeIds = placeTexts.map((member) => locationStrings(views, member))
  /** City and country, as far as they are known. */
  const putPlace = (location: number, out: Room): void => {
    let before = gap
    for (const idOf of placeIds) {
      const id = idOf(location)
      if (offsets[id] === offsets[id + 1]) continue
      stageSpan(out, before, 0, before.length)
      stageString(out, texts, id)
      before = comma
    }
  }
  return {
    touch: (group) => {
      touchNetworks(group, networks)
      for (const idOf of placeIds) touchTexts(group, views, idOf)
    },
    put: (asked, { bogon, verdict, network, location }, out) => {
      stageAsked(out, asked)
      stageSpan(out, spaces, Math.min(asked.to - asked.from, addressWidth), addressWidth)
      const id = bogon ? verdictCount : verdict
      putKept(out, befores, id)
      putKept(out, networks, bogon ? 0 : network)
      if (!bogon && location !== 0) putPlace(location, out)
      putKept(out, behinds, id)
    },
    putBad: (text, out) => stageText(out, `${text}: ${invalidAddress.message}\n`),
  }
}

function beforeOf({ classification, score }: Verdict): string {
  return `  ${`${classification} ${score} ${levelOf(score)}`.padEnd(verdictWidth)}`
}

/** To the end of the line. */
function behindOf({ classification, proxy, bot, signals }: Verdict): string {
  const provider = (proxy?.provider ?? '') || (bot?.provider ?? '')
  const others = signalNames.filter((name) => signals[name] && name !== classification)
  const by = provider === '' ? '' : `  by ${provider}`
  const also = others.length === 0 ? '' : `  also ${others.join(', ')}`
  return `${by}${also}\n`
}
