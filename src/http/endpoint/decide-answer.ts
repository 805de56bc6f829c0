// Hot path: no allocation, throw or closure.
// Decides an answer by the policies in use, counts it and passes it to the observers: the only
// way of every single check, whether a key asks over the API or a proxy asks the gate. What comes
// before (key, limits, lookup) and how the answer is sent are elsewhere.

import type { ContextAnswer } from '../../api/check-answer.ts'
import { countAnswer, countDecision, countLabels } from '../../observe/request-counters.ts'
import { type DecisionMemory, decideQuery } from '../../policy/decision-memory.ts'
import { type Outcome, chosenPolicyIndex } from '../../policy/policy.ts'
import type { AnswerBytes } from '../../table/answer/answer-writer.ts'
import type { Located } from '../../table/lookup/locate.ts'
import type { Query } from '../../table/lookup/query.ts'
import type { Table } from '../../table/table.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { observeCheck } from '../reply/observe-answers.ts'

/** `answer` is the table's newest one and about `about`; `undefined` without policies. */
export function decideAnswer(
  exchange: Exchange,
  table: Table,
  about: Query,
  answer: AnswerBytes,
  context?: ContextAnswer,
): Outcome | undefined {
  const { counters, policies, observers } = exchange.service
  countAnswer(counters, answer.classification)
  countLabels(counters, answer)
  const memory = policies.memoryOf(table)
  const outcome =
    memory === undefined ? undefined : outcomeOf(exchange, memory, about, answer.located, context)
  if (observers !== undefined) {
    const revision = memory?.set.revision
    observeCheck(exchange, observers, about, answer, outcome, revision)
  }
  return outcome
}

function outcomeOf(
  { key, policy, service }: Exchange,
  memory: DecisionMemory,
  about: Query,
  located: Located,
  context: ContextAnswer | undefined,
): Outcome {
  const { set } = memory
  const named =
    key === undefined ? set.indexOf(policy) : chosenPolicyIndex(set, key.policies, policy)
  const index = named < 0 ? set.defaultIndex : named
  const outcome = decideQuery(memory, index, about, located, context)
  countDecision(service.counters, outcome)
  return outcome
}
