// Facts of the small table's answers, as observers get them.

import { type AnswerFacts, factsOf } from '../../src/observe/answer-facts.ts'
import { compilePolicies } from '../../src/policy/policy.ts'
import { newQuery, parseQuery } from '../../src/table/lookup/query.ts'
import { openTable } from '../../src/table/open-table.ts'
import { writeSmallTable } from '../table/small-table.ts'

export const table = openTable(writeSmallTable())

/** What a policy decides whose one rule, `x`, always holds, beside the rule in observation `y`. */
export function outcomeFor(policy: string, action: string) {
  const rule = { name: 'x', condition: 'true', action, observe: false }
  const rules = [{ ...rule, name: 'y', observe: true }, rule]
  const policies = { [policy]: { rules, otherwise: 'allow' } }
  const [compiled] = compilePolicies({ revision: 'r', policies }).policies
  return compiled!.outcomes[compiled!.outcomeOf({} as never)]!
}

export function factsAbout(
  ip: string,
  { lot = 0, policy, action = 'block' }: { lot?: number; policy?: string; action?: string },
): AnswerFacts {
  const query = newQuery()
  const sent = Buffer.from(ip)
  parseQuery(query, sent, 0, sent.length)
  const outcome = policy === undefined ? undefined : outcomeFor(policy, action)
  return factsOf(query, table.answer(query), outcome, lot)
}
