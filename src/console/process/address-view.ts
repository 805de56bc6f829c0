// Everything about one address, for a person who looks: the answer, why, who says so and since
// when, what stands beside it, which own lists and which rule decide, and what would be otherwise.

import type { AddressView } from '../../api/admin-answers.ts'
import type { InsightEvidence } from '../../api/insights-answer.ts'
import { type Day, formatDay, parseDay } from '../../base/day.ts'
import { newAddressWords } from '../../ip/address.ts'
import { formatAddress, formatIpv4 } from '../../ip/format-address.ts'
import { parseAddress } from '../../ip/parse-address.ts'
import type { Verdict } from '../../model/verdict.ts'
import { decided } from '../../policy/decided-answer.ts'
import { bogonVerdict } from '../../score/bogon-verdict.ts'
import { judge } from '../../score/judge.ts'
import {
  answerWithInsights,
  decidingRecordOf,
  type InsightsTable,
  judgeInputOf,
} from '../../table/explain/insights.ts'
import { locate, type Located, newLocated } from '../../table/lookup/locate.ts'
import type { OpenTable } from '../../table/open-table.ts'
import type { ConsoleQuestion } from './console-messages.ts'
import { askedKeys, matchingEntries } from './matching-entries.ts'
import { type AnsweringParts, invalid } from './open-answering-parts.ts'

type AddressQuestion = Extract<ConsoleQuestion, { kind: 'address' }>

/** Throws `invalid_input` for what is no address, and for a policy that is not there. */
export async function addressView(
  world: AnsweringParts,
  asked: AddressQuestion,
): Promise<AddressView> {
  const { table, builtMs } = world
  const { ip, policy, without, days } = asked
  const policyRules = world.policyOf(policy)
  const whole = answerWithInsights({ ...table, builtMs }, ip)
  if (whole === undefined) throw invalid(`${JSON.stringify(ip.slice(0, 80))} is no IP address.`)
  const { insights, ...plain } = whole
  const answer = decided(plain, world.decideBy(policyRules))
  const words = newAddressWords()
  const family = parseAddress(ip, words) === 4 ? 4 : 6
  const located = newLocated()
  const { views } = table.reader
  locate(views, family, words, located)
  const names = answer.lists ?? []
  const store = names.length === 0 ? undefined : await (await world.stores()).openLists()
  const keys = askedKeys(views, words, located)
  const isAsked = without.length > 0 || days > 0
  const other = isAsked ? verdictIf(table, ip, { without, days }) : undefined
  return {
    answer,
    insights,
    decision: answer.decision ?? null,
    lists: store === undefined ? [] : await matchingEntries(store, names, keys),
    strips: insights.evidence.map((one) => evidenceStrip(one, table.asOf)),
    first_day: firstStripDay(table.asOf),
    neighbours: neighbourCells(table, words, located),
    what_if:
      other === undefined
        ? null
        : { risk_score: other.score, classification: other.classification },
  }
}

// Which days a feed has listed an address on, as far as the table knows: the first and the last
// day, and of the last thirty days on how many the feed was read and listed it.

const stripDays = 60
/** The days that `days_seen` and `days_observed` count. */
const countedDays = 30

/**
 * One character a day, the newest last: `1` listed, `0` not, `~` between the first day and the last
 * one, listed on some of them, `-` before the feed was read, as far as that is known.
 */
export function evidenceStrip(one: InsightEvidence, asOf: Day): AddressView['strips'][number] {
  const { feed, kind, first_seen: since, last_seen: until, days_seen: seen } = one
  const [first, last] = [parseDay(since) ?? asOf, parseDay(until) ?? asOf]
  const from = (asOf - stripDays + 1) as Day
  const counted = Math.max(first, asOf - countedDays + 1)
  // Listed on each day from its first one on, as far as days are counted.
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

// The addresses beside one: the 256 of an IPv4 address's /24; of an IPv6 address the 256 /64s of
// its
// /56, each by its first address, its own by the address itself.

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

// What the verdict of an address would be without some feeds, some days later, or both: its own
// record judged again, as the insights do it.

/** `undefined` where the text is no address. Own lists are no evidence: they are left out. */
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
