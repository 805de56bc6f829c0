// One of two tables that are compared by the same addresses: what it calls an address, and what a
// policy does with it.

import type { Classification } from '../model/kind.ts'
import { type DecisionMemory, decide } from '../policy/decision-memory.ts'
import { readClassification } from '../table/file/verdict-record.ts'
import type { Located } from '../table/lookup/locate.ts'
import type { OpenTable } from '../table/open-table.ts'

/** A policy with the memory of its decisions. */
export interface Rehearsed {
  readonly memory: DecisionMemory
  readonly index: number
}

/** A table, and the policy with its memory of that table's records. */
export interface ComparedTable {
  readonly table: OpenTable
  readonly policy: Rehearsed | undefined
}

/** `''` without a policy. */
export function actionOf({ policy }: ComparedTable, words: Uint32Array, located: Located): string {
  if (policy === undefined) return ''
  const { memory, index } = policy
  const number = decide(memory, index, words, located)
  return memory.set.policies[index]!.outcomes[number]!.decision.action
}

export function classOf(
  { reader: { views } }: OpenTable,
  { bogon, verdict }: Located,
): Classification {
  if (bogon) return 'bogon'
  return readClassification(views.verdicts, verdict)
}
