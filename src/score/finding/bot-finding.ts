// The bot of a verdict, and whose network it stands in. A crawler's own published range is high, a
// third party's list of it medium (MODEL.md, rule 8), whatever the third party's other merits.

import type { Network } from '../../model/network.ts'
import type { BotFinding } from '../../model/verdict.ts'
import type { CountedEvidence } from '../weight/weigh-evidence.ts'
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

/** Operators of bots that run networks of their own, as networks and hosters begin their names. */
const owners = ['google', 'apple', 'amazon', 'yandex', 'baidu', 'microsoft'] as const

function botOwner(provider: string): string | undefined {
  const name = provider.toLowerCase()
  return name === 'bingbot' ? 'microsoft' : owners.find((owner) => name.startsWith(owner))
}

/**
 * What of `hosting` is left beside a bot that is verified: that its own operator runs the network
 * says nothing of it. A bot in somebody else's cloud is hosted all the same.
 */
export function hostingBesideBot(
  hosting: readonly CountedEvidence[],
  of: { readonly bot: BotFinding | undefined; readonly network: Network | undefined },
): readonly CountedEvidence[] {
  const owner = of.bot?.confidence === 'high' ? botOwner(of.bot.provider) : undefined
  if (owner === undefined) return hosting
  const isOwners = (name: string): boolean => name.toLowerCase().startsWith(owner)
  if (isOwners(of.network?.organization ?? '')) return []
  const isForeign = ({ evidence }: CountedEvidence): boolean => !isOwners(evidence.provider)
  return hosting.every(isForeign) ? hosting : hosting.filter(isForeign)
}
