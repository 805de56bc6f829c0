// Hot path: `decidedAnswer` and `decidedOutcome`. No allocation, throw, closure or regular
// expression there for an answer whose decision is remembered.
//
// The bytes of an answer with its decision: the members stand behind all others. Where no list
// matches, the address is looked up at most once more, and the decision is read from memory.

import type { Query } from '../table/lookup/query.ts'
import { extendAnswer } from '../table/answer/answer-writer.ts'
import { type Located, locate, newLocated } from '../table/lookup/locate.ts'
import { type DecisionMemory, decide } from './decision-memory.ts'
import type { Outcome } from './policy.ts'

const own = newLocated()

/** `body` is the answer of the memory's table to `query`; `found` is where it was located. */
export function decidedAnswer(
  memory: DecisionMemory,
  policy: number,
  query: Query,
  found: Located | undefined,
  body: Uint8Array,
): Uint8Array {
  return extendAnswer(body, decidedOutcome(memory, policy, query, found).tail)
}

export function decidedOutcome(
  memory: DecisionMemory,
  policy: number,
  query: Query,
  found: Located | undefined,
): Outcome {
  if (found === undefined) {
    locate(memory.reader.views, query.family === 4 ? 4 : 6, query.words, own)
  }
  const number = decide(memory, policy, query.words, found ?? own)
  return memory.set.policies[policy]!.outcomes[number]!
}
