// Why an answer is what it is, in short: reasons and evidence, for programs that go through many
// addresses. All that can be said is insights.ts.

import type { CheckAnswer } from '../../api/check-answer.ts'
import type { InsightEvidence, InsightReason } from '../../api/insights-answer.ts'
import { type InsightsTable, answerWithInsights as explainWhole } from './insights.ts'

export interface Explanation {
  readonly answer: CheckAnswer
  /** The points of all reasons add up to risk_score. */
  readonly reasons: readonly InsightReason[]
  readonly evidence: readonly InsightEvidence[]
}

/** `undefined` where the text is no address. */
export function explain(
  { reader, asOf, sources }: Omit<InsightsTable, 'builtMs'>,
  text: string,
): Explanation | undefined {
  const whole = explainWhole({ reader, asOf, sources, builtMs: 0 }, text)
  if (whole === undefined) return undefined
  const { insights, ...answer } = whole
  return { answer, reasons: insights.reasons, evidence: insights.evidence }
}
