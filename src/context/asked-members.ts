// Hot path: `completeAnswer`. No allocation, throw or closure there.
//
// The members of an answer that only some requests ask for, behind all others: by `include`
// (contract 6.4: scope, 6.8: detections), and by context (6.5), which holds for one request only.

import type { CheckAnswer, ContextAnswer } from '../api/check-answer.ts'
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
  table: Pick<AnsweringTable, 'asOf' | 'sources'>,
  query: Query,
  answer: AnswerBytes,
  decided: Uint8Array,
  asked: AskedMembers,
  context: ContextAnswer | undefined,
): Uint8Array {
  const { reader, located } = answer
  const isPlain = context === undefined
  const whole = asked.prefix && isPlain ? withPrefix(reader, query, located, decided) : decided
  if (isPlain && !asked.detections) return whole
  return withMembers(
    whole,
    asked.detections ? detectionsOf(table, reader, query) : undefined,
    context,
  )
}

function withMembers(
  answer: Uint8Array,
  detections: CheckAnswer['detections'],
  context: ContextAnswer | undefined,
): Uint8Array {
  const more = { ...(detections && { detections }), ...context }
  return extendAnswer(answer, jsonRun(`,${JSON.stringify(more).slice(1)}`))
}
