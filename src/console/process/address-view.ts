// Everything about one address, for a person.

import type { AddressView } from '../../api/admin-answers.ts'
import type { InsightEvidence } from '../../api/insights-answer.ts'
import { type Day, formatDay, parseDay } from '../../base/day.ts'
import { contextOfAddress } from '../../context/context.ts'
import { newAddressWords } from '../../ip/address.ts'
import { formatAddress, formatIpv4 } from '../../ip/format-address.ts'
import { parseAddress } from '../../ip/parse-address.ts'
import type { Verdict } from '../../model/verdict.ts'
import { decided } from '../../policy/decided-answer.ts'
import { bogonVerdict } from '../../score/bogon-verdict.ts'
import { judge } from '../../score/judge.ts'
import { prefixText } from '../../table/answer/answer-prefix.ts'
import {
  answerWithInsights,
  decidingRecordOf,
  type InsightsTable,
  judgeInputOf,
} from '../../table/explain/insights.ts'
import { matchingEntries } from '../../table/explain/matching-entries.ts'
import { locate, type Located, newLocated } from '../../table/lookup/locate.ts'
import type { OpenTable } from '../../table/open-table.ts'
import type { ConsoleQuestion } from './console-messages.ts'
import { type AnsweringParts, invalid } from './open-answering-parts.ts'

type AddressQuestion = Extract<ConsoleQuestion, { kind: 'address' }>

/** Throws `invalid_input` for a non-address or unknown policy. */
export async function addressView(
  world: AnsweringParts,
  asked: AddressQuestion,
): Promise<AddressView> {
  const { table, builtMs } = world
  const { ip, policy, without, days, userAgent, previous } = asked
  const policyRules = world.policyOf(policy)
  const whole = answerWithInsights({ ...table, builtMs }, ip)
  if (whole === undefined) throw invalid(`${JSON.stringify(ip.slice(0, 80))} is not an IP address.`)
  const { insights, ...plain } = whole
  const prefix = prefixText(table.reader, ip, false)
  const context = contextOfAddress(table, ip, userAgent, previous)
  const decide = world.decideBy(policyRules)
  const answer = { ...decided({ ...plain, ...context }, decide, context), prefix }
  const words = newAddressWords()
  const family = parseAddress(ip, words) === 4 ? 4 : 6
  const located = newLocated()
  locate(table.reader.views, family, words, located)
  const openLists = async () => (await world.stores()).openLists()
  const isAsked = without.length > 0 || days > 0
  const other = isAsked ? verdictIf(table, ip, { without, days }) : undefined
  return {
    answer,
    insights,
    decision: answer.decision ?? null,
    lists: await matchingEntries(openLists, table, ip),
    strips: insights.evidence.map((one) => evidenceStrip(one, table.asOf)),
    first_day: firstStripDay(table.asOf),
    neighbours: neighbourCells(table, words, located),
    what_if:
      other === undefined
        ? null
        : { risk_score: other.score, classification: other.classification },
  }
}

// The days on which a feed listed an address. The table knows the first and the last, and of the
// last thirty how many were read and listed.

const stripDays = 60
const countedDays = 30

/** A character a day, the newest last: `1` listed, `0` not, `~` between first and last, listed on
 * some, `-` not read as far as known. */
export function evidenceStrip(one: InsightEvidence, asOf: Day): AddressView['strips'][number] {
  const { feed, kind, first_seen: since, last_seen: until, days_seen: seen } = one
  const [first, last] = [parseDay(since) ?? asOf, parseDay(until) ?? asOf]
  const from = (asOf - stripDays + 1) as Day
  const counted = Math.max(first, asOf - countedDays + 1)
  // Listed on every counted day since the first.
  const isWhole = seen >= last - counted + 1
  const observed = Math.min(asOf - one.days_observed + 1, first)
  const days = Array.from({ length: stripDays }, (_, at) => {
    const day = from + at
    if (day === first || day === last) return '1'
    if (day > last) return '0'
    if (day > first) return isWhole && day >= counted ? '1' : '~'
    return day >= observed ? '0' : '-'
  })
  return { feed, kind, since, until, days: days.join('') }
}

export function firstStripDay(asOf: Day): string {
  return formatDay((asOf - stripDays + 1) as Day)
}

// The 256 addresses of the /24; for IPv6 the 256 /64s of the /56 by their first addresses, the own
// one by the address itself.

type Neighbours = AddressView['neighbours']
type Cell = Neighbours['cells'][number]

const size = 256

function neighbourCells(
  table: OpenTable,
  words: Uint32Array,
  { version, ipv4 }: Pick<Located, 'version' | 'ipv4'>,
): Neighbours {
  const cellOf = (ip: string): Cell => {
    const { classification = 'clean', risk_score = 0 } = table.check(ip) ?? {}
    return { ip, classification, risk_score }
  }
  if (version === 4) {
    const first = Math.floor(ipv4 / size) * size
    const cells = Array.from({ length: size }, (_, at) => cellOf(formatIpv4(first + at)))
    return { prefix: `${formatIpv4(first)}/24`, cells }
  }
  const line = newAddressWords()
  line[0] = words[0]!
  const site = (words[1]! & 0xffff_ff00) >>> 0
  const cells = Array.from({ length: size }, (_, at) => {
    line[1] = site + at
    return cellOf(formatAddress(6, line[1] === words[1] ? words : line))
  })
  line[1] = site
  return { prefix: `${formatAddress(6, line)}/56`, cells }
}

/** Judges the record again; `undefined` for a non-address. Own lists are not evidence. */
function verdictIf(
  table: Omit<InsightsTable, 'builtMs'>,
  text: string,
  { without, days }: { readonly without: readonly string[]; readonly days: number },
): Verdict | undefined {
  const words = newAddressWords()
  const family = parseAddress(text, words)
  if (family === 0) return undefined
  const record = decidingRecordOf(table.reader, family, words)
  if (record === undefined) return bogonVerdict
  const input = judgeInputOf(table, record)
  const evidence = input.evidence.filter(({ voice }) => !without.includes(voice.id))
  return judge({ ...input, evidence, asOf: (input.asOf + days) as Day })
}
