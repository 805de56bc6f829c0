// An answer as an object with its decision; the bytes of one get the outcome's `tail`.

import type { CheckAnswer, ContextAnswer } from '../api/check-answer.ts'
import { newQuery, parseQuery } from '../table/lookup/query.ts'
import type { Decide } from './decide-by.ts'
import type { Outcome } from './policy.ts'

export function withDecision<Answer extends object>(
  answer: Answer,
  { decision, observed }: Pick<Outcome, 'decision' | 'observed'>,
): Answer & Pick<CheckAnswer, 'decision' | 'observed'> {
  return { ...answer, decision, ...(observed.length === 0 ? {} : { observed }) }
}

export function decided<Answer extends CheckAnswer>(
  answer: Answer,
  decide: Decide | undefined,
  context?: ContextAnswer,
): Answer {
  const query = newQuery()
  const sent = Buffer.from(answer.ip)
  if (decide === undefined || !parseQuery(query, sent, 0, sent.length)) return answer
  return withDecision(answer, decide(query, undefined, context))
}
