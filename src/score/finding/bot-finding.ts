// The bot of a verdict. A crawler's own published range is high, a third party's list of it medium
// (MODEL.md, rule 8), whatever the third party's other merits.

import type { BotFinding } from '../../model/verdict.ts'
import type { Finding } from './finding.ts'
import { providerOf } from './provider-name.ts'

/** The bot, or `undefined` where the evidence does not suffice for a match. */
export function botOf(finding: Finding): BotFinding | undefined {
  if (!finding.present) return undefined
  const direct = finding.counted.filter(({ evidence }) => evidence.voice.assurance === 'direct')
  const believed = direct.length > 0 ? direct : finding.counted
  // Where two bots publish the same ranges, the crawler is the one to name.
  const crawlers = believed.filter(({ evidence }) => evidence.category === 'search_crawler')
  const category = crawlers.length > 0 ? 'search_crawler' : 'ai_tool'
  const provider = providerOf(crawlers.length > 0 ? crawlers : believed)
  return { confidence: direct.length > 0 ? 'high' : 'medium', provider, category }
}
