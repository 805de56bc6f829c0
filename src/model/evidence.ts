// Evidence: what feeds claim about a range, aggregated over days. The input of src/score, stored in
// the table for explanations.

import type { Day } from '../base/day.ts'
import type { BotCategory, Kind, Match } from './kind.ts'

/**
 * `direct`: an operator's own published list, the Tor consensus, or a test of the proxy itself;
 * `good`: a third party that the catalogue marks as good; `weak`: any other.
 */
export const assurances = ['direct', 'good', 'weak'] as const
export type Assurance = (typeof assurances)[number]

/**
 * A feed's measured half-lives in days by class of network: people's own lines, networks with
 * shared addresses, all others. Absent ones default to the kind's (src/score/weight/decay.ts).
 */
export interface HalfLives {
  readonly lines?: number | undefined
  readonly shared?: number | undefined
  readonly elsewhere?: number | undefined
}

/** The properties of a feed that weigh its evidence. */
export interface Voice {
  readonly id: string
  /** Feeds of a group republish each other and count as one voice. */
  readonly group: string
  /** 0 to 1. */
  readonly weight: number
  readonly assurance: Assurance
  /** It publishes a window of days, so it does not count for percent_days_seen. */
  readonly rolling: boolean
  /**
   * Ranges from a hoster's announcements count only while their origin AS is one of these. Empty
   * for other feeds.
   */
  readonly asns: readonly number[]
  readonly halfLives?: HalfLives
  /** A VPN of ordinary people that preserves their country (Cloudflare WARP). */
  readonly consumer?: boolean
}

/** One feed's evidence of one range and kind. */
export interface Evidence {
  readonly voice: Voice
  readonly kind: Kind
  readonly match: Match
  /** The operator, hoster or bot that it names, or `''`. */
  readonly provider: string
  /** Only for kind `bot`. */
  readonly category: BotCategory | undefined
  /** For `blocklist`: the number of lists that name it (counted by IPsum); otherwise 1. */
  readonly lists: number
  readonly firstSeen: Day
  readonly lastSeen: Day
  /** Days of the last 30 on which it was listed. */
  readonly daysListed: number
  /** Days of the last 30 with a snapshot of the feed. At least `daysListed`. */
  readonly daysObserved: number
}
