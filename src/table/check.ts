// One address as text to the whole answer, as an object: the plain, obvious way. The server's byte
// path has to say the same; this is its twin.

import type { CheckAnswer, NetworkAnswer } from '../api/answer.ts'
import { formatDay } from '../base/day.ts'
import { newWords } from '../ip/address.ts'
import { parseAddress } from '../ip/parse.ts'
import { formatAddress, formatIpv4 } from '../ip/text.ts'
import type { Location } from '../model/location.ts'
import type { Network } from '../model/network.ts'
import type { Verdict } from '../model/verdict.ts'
import type { Views } from '../schema/section.ts'
import { bogonVerdict } from '../score/bogon.ts'
import { levelOf } from '../model/level.ts'
import { type Located, locate, newLocated } from './locate.ts'
import { readLocation } from './location.ts'
import { readNetwork } from './network.ts'
import type { Strings } from './string.ts'
import { readVerdict } from './verdict.ts'

export interface Reader {
  readonly id: string
  readonly views: Views
  readonly strings: Strings
}

const words = newWords()
const located = newLocated()

/** `undefined` where the text is no address by the contract's strict rules (3.9). */
export function check(reader: Reader, text: string): CheckAnswer | undefined {
  const family = parseAddress(text, words)
  if (family === 0) return undefined
  locate(reader.views, family, words, located)
  const canonical = judgedText(family, words, located)
  const verdict = located.bogon
    ? bogonVerdict
    : readVerdict(reader.views, located.verdict, reader.strings)
  const { version } = located
  const { before, behind } = verdictMembers(reader, verdict)
  const { classification, risk_level, risk_score } = before
  const { proxy, bot, signals, reasons, table } = behind
  const network = networkAnswer(reader, located)
  const location = locationAnswer(reader, located)
  // Members by name: spreading objects of this size took 15 of the 16 us of an answer.
  // prettier-ignore
  return canonical === text
    ? { classification, risk_level, risk_score, ip: text, version,
        network, location, proxy, bot, signals, reasons, table }
    : { classification, risk_level, risk_score, ip: text, version, address: canonical,
        network, location, proxy, bot, signals, reasons, table }
}

/** The members that a verdict decides: those before `ip`, and those behind `location`. */
export function verdictMembers(
  reader: Pick<Reader, 'id'>,
  verdict: Verdict,
): {
  readonly before: Pick<CheckAnswer, 'classification' | 'risk_level' | 'risk_score'>
  readonly behind: Pick<CheckAnswer, 'proxy' | 'bot' | 'signals' | 'reasons' | 'table'>
} {
  return {
    before: {
      classification: verdict.classification,
      risk_level: levelOf(verdict.score),
      risk_score: verdict.score,
    },
    behind: {
      proxy: proxyAnswer(verdict),
      bot: verdict.bot ?? null,
      signals: verdict.signals,
      reasons: verdict.reasons.map((reason) => reason.code),
      table: reader.id,
    },
  }
}

/** Canonical text of what was judged: IPv4-mapped text is judged as the IPv4 address. */
export function judgedText(family: 4 | 6, words: Uint32Array, located: Located): string {
  return family === 6 && located.version === 4
    ? formatIpv4(located.ipv4)
    : formatAddress(family, words)
}

function locationAnswer(reader: Reader, located: Located): Location | null {
  if (located.bogon || located.location === 0) return null
  return readLocation(reader.views, located.location, reader.strings)
}

function networkAnswer(reader: Reader, located: Located): NetworkAnswer | null {
  if (located.bogon || located.network === 0) return null
  const network: Network = readNetwork(reader.views.networks, located.network, reader.strings)
  const { asn, organization, type, mobile } = network
  return { asn, organization, type, mobile }
}

function proxyAnswer({ proxy }: Verdict): CheckAnswer['proxy'] {
  if (proxy === undefined) return null
  return {
    confidence: proxy.confidence,
    type: proxy.type,
    provider: proxy.provider,
    last_seen_at: formatDay(proxy.lastSeen),
    percent_days_seen: proxy.percentDaysSeen,
  }
}
