// How an operator's own lists (contract 5.3: own lists) change an answer: names and, for a list
// with an effect, a last reason, score and level. Classification, signals, proxy, bot and bogons
// are unchanged. Points of all reasons add up to the score, before lists and after. Only `covered`
// is hot.

import type { CheckAnswer } from '../../api/check-answer.ts'
import { type ListEffect, riskLevelOf } from '../../model/kind.ts'
import type { ListMatch, ListMatcher } from '../../lists/list-matcher.ts'
import type { Reason, Verdict } from '../../model/verdict.ts'
import { networkWords } from '../../schema/table-layout.ts'
import type { SectionViews } from '../../schema/table-sections.ts'
import type { ListReasonCode } from '../../score/points/reason-codes.ts'
import type { Located } from '../lookup/locate.ts'

/** Hot: whether an entry covers the located address; never a bogon. */
export function covered(
  lists: ListMatcher,
  views: SectionViews,
  words: Uint32Array,
  located: Located,
): boolean {
  if (located.bogon) return false
  const { version, ipv4 } = located
  return lists.covers(version, words, ipv4, asnOf(lists, views, located))
}

/** Matches the address as judged, and the IPv4 address inside it. */
export function listsOf(
  lists: ListMatcher | undefined,
  views: SectionViews,
  words: Uint32Array,
  located: Located,
): ListMatch | undefined {
  if (lists === undefined || !covered(lists, views, words, located)) return undefined
  const { version, ipv4 } = located
  const asn = asnOf(lists, views, located)
  return lists.match({ family: version, words, ipv4, asn, nowMs: Date.now() })
}

/** 0 without a network, or if no list needs it: the word is not in any cache. */
const asnOf = (lists: ListMatcher, views: SectionViews, { network }: Located): number =>
  !lists.hasSystems || network === 0 ? 0 : views.networks[(network - 1) * networkWords]!

export function listReason(score: number, effect: ListEffect): Reason | undefined {
  if (effect === 'none') return undefined
  const code: ListReasonCode = effect === 'allow' ? 'list_allowed' : 'list_blocked'
  // Not `-score`, which is -0 for 0.
  return { code, points: effect === 'allow' ? 0 - score : 100 - score }
}

export function listedVerdict(verdict: Verdict, { effect }: ListMatch): Verdict {
  const reason = listReason(verdict.score, effect)
  if (reason === undefined) return verdict
  return { ...verdict, score: verdict.score + reason.points, reasons: [...verdict.reasons, reason] }
}

export function listedAnswer(answer: CheckAnswer, { names, effect }: ListMatch): CheckAnswer {
  const reason = listReason(answer.risk_score, effect)
  if (reason === undefined) return { ...answer, lists: names }
  const risk_score = answer.risk_score + reason.points
  const reasons = [...answer.reasons, reason.code]
  return { ...answer, risk_level: riskLevelOf(risk_score), risk_score, reasons, lists: names }
}
