// Hot path for plain answers: `completeAnswer` does not allocate there.
//
// The members of an answer that only some requests ask for, behind all others: by `include`
// (contract 6.4 and 6.8), and by context (6.5), which holds for its request alone and for no prefix.

import type { ContextAnswer } from '../api/check-answer.ts'
import { withPrefix } from '../table/answer/answer-prefix.ts'
import { type AnswerBytes, extendAnswer, jsonRun } from '../table/answer/answer-writer.ts'
import { detectionsOf } from '../table/explain/detections.ts'
import type { Query } from '../table/lookup/query.ts'
import type { OpenTable } from '../table/open-table.ts'

export interface AskedMembers {
  readonly prefix: boolean
  readonly detections: boolean
}
export const nothingAsked: AskedMembers = { prefix: false, detections: false }
export const prefixAsked: AskedMembers = { ...nothingAsked, prefix: true }

export type AnsweringTable = Pick<OpenTable, 'answer' | 'asOf' | 'reader' | 'sources'>

/** `decided` is the body of the table's newest `answer`, perhaps with a decision. */
export function completeAnswer(
  table: Omit<AnsweringTable, 'answer' | 'reader'>,
  query: Query,
  { reader, located }: AnswerBytes,
  decided: Uint8Array,
  { prefix, detections }: AskedMembers,
  context: ContextAnswer | undefined,
): Uint8Array {
  const isPlain = context === undefined
  const whole = prefix && isPlain ? withPrefix(reader, query, located, decided) : decided
  if (isPlain && !detections) return whole
  const found = detections ? { detections: detectionsOf({ ...table, reader }, query) } : {}
  return extendAnswer(whole, jsonRun(`,${JSON.stringify({ ...found, ...context }).slice(1)}`))
}
