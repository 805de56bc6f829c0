// An answer as a short line for people: address, classification, score and level, network, place,
// who provides it, what else is known. Columns are padded, so that lines stand below each other; what
// a line says is what the answer says (src/table/check.ts).
//
// As in rows of CSV, what a verdict or a network says is made at its first use and kept by its
// number; places are copied from the table.

import { invalidAddress } from '../api/error.ts'
import { signalNames } from '../model/kind.ts'
import { levelOf } from '../model/level.ts'
import type { Verdict } from '../model/verdict.ts'
import { networkWords, verdictWords } from '../schema/layout.ts'
import { bogonVerdict } from '../score/bogon.ts'
import type { Reader } from '../table/check.ts'
import { locate, newLocated } from '../table/locate.ts'
import { locationString } from '../table/location.ts'
import { readNetwork } from '../table/network.ts'
import { readVerdict } from '../table/verdict.ts'
import { type Room, putPart, putSpan } from './room.ts'
import { type Rows, newKept } from './row.ts'

/** The longest address of IPv4. */
const addressWidth = 15
/** The longest of them are a little longer. */
const verdictWidth = 28

const gap = Buffer.from('  ')
const spaces = Buffer.alloc(addressWidth, ' ')
const comma = Buffer.from(', ')
const lineEnd = Buffer.from('\n')
const noNetwork = Buffer.from('  -')

/** Before and behind what the address itself decides. */
interface Parts {
  readonly before: Uint8Array
  readonly behind: Uint8Array
}

export function openBriefs(reader: Reader): Rows {
  const { views, strings } = reader
  const verdicts = newKept<Parts>(views.verdicts.length / verdictWords)
  const networks = newKept<Uint8Array>(views.networks.length / networkWords + 1)
  const bogon = partsOf(bogonVerdict)
  const located = newLocated()
  const verdictParts = (): Parts => {
    if (located.bogon) return bogon
    const { verdict } = located
    return (verdicts[verdict] ??= partsOf(readVerdict(views, verdict, strings)))
  }
  const networkPart = (): Uint8Array => {
    const { network } = located
    if (located.bogon || network === 0) return noNetwork
    const kept = networks[network]
    if (kept !== undefined) return kept
    const { asn, organization, type } = readNetwork(views.networks, network, strings)
    return (networks[network] = Buffer.from(`  AS${asn} ${organization} (${type})`))
  }
  return {
    put: ({ bytes, from, to, family, words }, out) => {
      locate(views, family === 4 ? 4 : 6, words, located)
      putSpan(out, bytes, from, to)
      putSpan(out, spaces, Math.min(to - from, addressWidth), addressWidth)
      const { before, behind } = verdictParts()
      putPart(out, before)
      putPart(out, networkPart())
      if (!located.bogon && located.location !== 0) putPlace(reader, located.location, out)
      putPart(out, behind)
      putPart(out, lineEnd)
    },
    putBad: (text, out) => putPart(out, Buffer.from(`${text}: ${invalidAddress.message}\n`)),
  }
}

function partsOf({ classification, score, proxy, bot, signals }: Verdict): Parts {
  const provider = (proxy?.provider ?? '') || (bot?.provider ?? '')
  const others = signalNames.filter((name) => signals[name] && name !== classification)
  const by = provider === '' ? '' : `  by ${provider}`
  const also = others.length === 0 ? '' : `  also ${others.join(', ')}`
  const judged = `${classification} ${score} ${levelOf(score)}`
  return {
    before: Buffer.from(`  ${judged.padEnd(verdictWidth)}`),
    behind: Buffer.from(by + also),
  }
}

/** City and country, as far as they are known. */
function putPlace({ views }: Reader, location: number, out: Room): void {
  let before = gap
  for (const member of ['city', 'country_code'] as const) {
    const id = locationString(views, location, member)
    const from = views.string_offsets[id]!
    const to = views.string_offsets[id + 1]!
    if (from === to) continue
    putPart(out, before)
    putSpan(out, views.string_bytes, from, to)
    before = comma
  }
}
