// From an address to what a test key answers. A real address has no case: a test key must never
// pass for a real one.

import type { CheckAnswer, Location } from '../../api/check-answer.ts'
import type { Insights } from '../../api/insights-answer.ts'
import { formatDay } from '../../base/day.ts'
import { nothingAsked } from '../../context/asked-members.ts'
import { newAddressWords } from '../../ip/address.ts'
import { EMBEDDED, embeddedKind } from '../../ip/embedded-ipv4.ts'
import { formatAddress } from '../../ip/format-address.ts'
import { parseAddress } from '../../ip/parse-address.ts'
import type { Verdict } from '../../model/verdict.ts'
import { verdictPart } from '../../table/answer/answer-reader.ts'
import { detectionsIn } from '../../table/explain/detections.ts'
import { bogonVerdict } from '../../score/bogon-verdict.ts'
import { reasonText } from '../../score/points/reason-codes.ts'
import { type TestCase, type TestVerdict, testCases, testDay } from './test-cases.ts'

const testTable = 'test'

const words = newAddressWords()

export interface TestAddress {
  readonly version: 4 | 6
  readonly judged: string
  readonly is: TestCase
}

/** `real`: an address that a test key does not answer for; `undefined`: not an address. */
export function testAddressOf(text: string): TestAddress | 'real' | undefined {
  const family = parseAddress(text, words)
  if (family === 0) return undefined
  const isMapped = family === 6 && embeddedKind(words) === EMBEDDED.mapped
  const version = isMapped ? 4 : family
  if (isMapped) words[0] = words[3]!
  const found = version === 4 ? ofIpv4(words[0]!) : ofIpv6(words)
  if (found === 'real') return found
  return { version, judged: formatAddress(version, words), is: found }
}

const bogon: TestCase = { kind: 'bogon' }

function caseOf(number: number): TestCase {
  return testCases.get(number) ?? bogon
}

function ofIpv4(value: number): TestCase | 'real' {
  if (value >>> 8 === 0xc61200) return caseOf(value & 0xff)
  const isLocal =
    value >>> 24 === 127 || value >>> 24 === 10 || value >>> 20 === 0xac1 || value >>> 16 === 0xc0a8
  return isLocal ? bogon : 'real'
}

function ofIpv6([first = 0, second = 0, third = 0, fourth = 0]: Uint32Array): TestCase | 'real' {
  // 2001:db8:0:1::/64; the digits of the hextet are read as decimal, and 1e1 has other than digits.
  if (first === 0x20010db8 && second === 1) {
    const hextet = (fourth & 0xffff).toString(16)
    return /^\d+$/.test(hextet) ? caseOf(Number(hextet)) : bogon
  }
  const isLoopback = first === 0 && second === 0 && third === 0 && fourth === 1
  return isLoopback || first >>> 25 === 0xfc >>> 1 ? bogon : 'real'
}

const location: Location = {
  country_code: 'DE',
  continent_code: 'EU',
  continent: 'Europe',
  country: 'Germany',
  state: 'Berlin',
  city: 'Berlin',
  zip: '10115',
  latitude: 52.52,
  longitude: 13.405,
  timezone: 'Europe/Berlin',
  currency_code: 'EUR',
  accuracy: 'city',
}

/** A verdict, a bogon or the slow one. */
export function testAnswer(
  ip: string,
  { version, judged, is }: TestAddress,
  { detections } = nothingAsked,
): CheckAnswer {
  const found = verdictOf(is)
  const part = verdictPart(found?.judged.verdict ?? bogonVerdict)
  return {
    classification: part.classification,
    risk_level: part.risk_level,
    risk_score: part.risk_score,
    ip,
    version,
    ...(ip === judged ? {} : { address: judged }),
    network: found === undefined ? null : networkAnswer(found),
    location: found === undefined ? null : location,
    proxy: part.proxy,
    bot: part.bot,
    signals: part.signals,
    reasons: part.reasons,
    table: testTable,
    ...(detections && { detections: found ? detectionsIn(found.judged) : [] }),
  }
}

function verdictOf(is: TestCase): TestVerdict | undefined {
  const found = is.kind === 'slow' ? testCases.get(1) : is
  return found?.kind === 'verdict' ? found : undefined
}

function networkAnswer({ network }: TestVerdict): CheckAnswer['network'] {
  const { asn, organization, type, mobile } = network
  return { asn, organization, type, mobile }
}

/** Without a table there are only the reasons, which add up to the score. */
export function testInsights({ is }: TestAddress): Insights {
  const verdict: Verdict = verdictOf(is)?.judged.verdict ?? bogonVerdict
  return {
    table: {
      id: testTable,
      built_at: `${formatDay(testDay)}T00:00:00.000Z`,
      as_of: formatDay(testDay),
    },
    score_range: [verdict.score, verdict.score],
    reasons: verdict.reasons.map(({ code, points }) => ({ code, text: reasonText(code), points })),
    evidence: [],
    neighborhood: [],
    counterfactuals: { without_feed: [], falls_below: [] },
    alternatives: [],
  }
}
