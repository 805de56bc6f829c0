// The members of one answer that conditions read. A null object stays null; its members read as empty
// (condition-program.ts).

import type { CheckAnswer } from '../../api/check-answer.ts'
import type { SeenMember } from './condition-members.ts'

/** The members of an answer that a condition sees. */
export type SeenAnswer = Pick<CheckAnswer, SeenMember>

export type Facts = SeenAnswer & {
  /** The operator's own lists that match, by name. */
  readonly lists: readonly string[]
}

export const factsOf = (answer: SeenAnswer, lists: readonly string[]): Facts => ({
  risk_score: answer.risk_score,
  risk_level: answer.risk_level,
  classification: answer.classification,
  version: answer.version,
  reasons: answer.reasons,
  lists,
  network: answer.network,
  location: answer.location,
  proxy: answer.proxy,
  bot: answer.bot,
  signals: answer.signals,
})
