// Everything about one address, for a person who looks: the answer, why, who says so and since
// when, what stands beside it, which own lists and which rule decide, and what would be otherwise.

import type { CheckAnswer } from '../../api/check-answer.ts'
import { newAddressWords } from '../../ip/address.ts'
import { parseAddress } from '../../ip/parse-address.ts'
import type { Decide } from '../../policy/decide-by.ts'
import { answerWithInsights } from '../../table/explain/insights.ts'
import { verdictIf } from '../../table/explain/what-if.ts'
import { locate, newLocated } from '../../table/lookup/locate.ts'
import { newQuery, parseQuery } from '../../table/lookup/query.ts'
import type { AddressView } from '../../api/admin-answers.ts'
import type { ConsoleQuestion } from './console-messages.ts'
import { evidenceStrip, firstStripDay } from './evidence-strip.ts'
import { askedKeys, matchingEntries } from './matching-entries.ts'
import { neighbourCells } from './neighbour-cells.ts'
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

/** The server puts decisions into the bytes of answers; so does this, for there is one way only. */
export function decided(answer: CheckAnswer, decide: Decide | undefined): CheckAnswer {
  const query = newQuery()
  const sent = Buffer.from(answer.ip)
  if (decide === undefined || !parseQuery(query, sent, 0, sent.length)) return answer
  const body = decide(query, Buffer.from(JSON.stringify(answer)))
  return JSON.parse(Buffer.from(body).toString()) as CheckAnswer
}
