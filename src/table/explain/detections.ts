// Detections (contract 6.8: detections): what the evidence of each kind comes to, from the
// address's own record judged again. A kind is present where its signal, or the bot, is.

import type { Detection } from '../../api/check-answer.ts'
import { type Day, formatDay } from '../../base/day.ts'
import { confidenceOf } from '../../score/finding/confidence.ts'
import { judgeWithFindings } from '../../score/judge.ts'
import { strengthOf } from '../../score/weight/strength.ts'
import { lastSeenDay, percentDaysSeen } from '../../score/weight/weigh-evidence.ts'
import type { AnswerReader } from '../answer/answer-reader.ts'
import type { Query } from '../lookup/query.ts'
import { decidingRecordOf, type InsightsTable, judgeInputOf } from './insights.ts'

/** `query` has an address. */
export function detectionsOf(
  { asOf, sources }: Pick<InsightsTable, 'asOf' | 'sources'>,
  reader: AnswerReader,
  { family, words }: Query,
): readonly Detection[] {
  const judged = decidingRecordOf(reader, family === 4 ? 4 : 6, words)
  if (judged === undefined) return []
  return detectionsIn(judgeWithFindings(judgeInputOf({ asOf, sources, reader }, judged)))
}

/** Strongest first. */
export function detectionsIn(judged: ReturnType<typeof judgeWithFindings>): readonly Detection[] {
  const { bot, signals } = judged.verdict
  const blocklist = { kind: 'blocklist', inferred: false, counted: judged.blocklist } as const
  const strength = strengthOf(judged.blocklist)
  const present = signals.blocklist_match
  return [...Object.values(judged.findings), { ...blocklist, provider: '', strength, present }]
    .filter((finding) => finding.present)
    .toSorted((a, b) => b.strength - a.strength)
    .map(({ kind, counted, inferred, provider }) => ({
      kind,
      provider,
      confidence: confidenceOf(counted, inferred),
      first_seen: formatDay(Math.min(...counted.map(({ evidence }) => evidence.firstSeen)) as Day),
      last_seen: formatDay(lastSeenDay(counted)),
      percent_days_seen: percentDaysSeen(counted),
      // As the answer names it.
      ...(kind === 'bot' && bot && { provider: bot.provider, confidence: bot.confidence }),
    }))
}
