// What an answer is counted by, beside its classification: metrics of a server have it as labels.

import type { CheckAnswer } from '../../api/check-answer.ts'
import type { Level } from '../../model/kind.ts'

export interface AnswerLabels {
  /** 0 to 100. */
  score: number
  level: Level
  /** Of a proxy or a bot; empty where there is none. */
  provider: string
  /** Code of the country; empty where it is unknown. */
  country: string
}

export function labelsOf({
  risk_score,
  risk_level,
  proxy,
  bot,
  location,
}: Pick<CheckAnswer, 'risk_score' | 'risk_level' | 'proxy' | 'bot' | 'location'>): AnswerLabels {
  const provider = proxy?.provider || bot?.provider || ''
  return { score: risk_score, level: risk_level, provider, country: location?.country_code ?? '' }
}
