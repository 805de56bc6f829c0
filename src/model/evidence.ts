// Evidence: what feeds say of one range, folded over days. The input of src/score, and what the
// table keeps for those who ask why.

import type { Day } from '../base/day.ts'
import type { BotCategory, Kind, Match } from './kind.ts'

/**
 * `direct`: an operator's own published list, the Tor consensus, a test of the proxy itself;
 * `good`: a third party that the catalogue marks as good; `weak`: any other (contract 3.2).
 */
export const assurances = ['direct', 'good', 'weak'] as const
export type Assurance = (typeof assurances)[number]

/**
 * Measured half-lives of a feed's evidence, in days, by the class of network that it lies in:
 * people's own lines, networks where many share an address, and all others. What is absent was not
 * measured: its kind's half-life holds (src/score/weight/decay.ts).
 */
export interface HalfLives {
  readonly lines?: number | undefined
  readonly shared?: number | undefined
  readonly elsewhere?: number | undefined
}

/** What the model must know of a feed to weigh its word. */
export interface Voice {
  /** The feed's id, `tor-exits-onionoo`. */
  readonly id: string
  /** Feeds of one group republish each other and count as one voice. */
  readonly group: string
  /** 0 to 1: how much its word counts. */
  readonly weight: number
  readonly assurance: Assurance
  /** It publishes a window of days, not a day: it does not count for percent_days_seen. */
  readonly rolling: boolean
  /**
   * Ranges derived from a hoster's announcements count only while the origin AS is one of these.
   * Empty where the feed is not derived.
   */
  readonly asns: readonly number[]
  /** Absent where nothing was measured. */
  readonly halfLives?: HalfLives
  /** Of a VPN that ordinary people use and that keeps their country (Cloudflare WARP). */
  readonly consumer?: boolean
}

/** One feed's word on one range and kind. */
export interface Evidence {
  readonly voice: Voice
  readonly kind: Kind
  readonly match: Match
  /** The operator, hoster or bot that it names; `''` where it names none. */
  readonly provider: string
  /** Only for kind `bot`. */
  readonly category: BotCategory | undefined
  /** For kind `blocklist`: how many lists name it (IPsum counts them); 1 elsewhere. */
  readonly lists: number
  readonly firstSeen: Day
  readonly lastSeen: Day
  /** Of the last 30 days: those on which it was listed. */
  readonly daysListed: number
  /** Of the last 30 days: those for which the feed has a snapshot. At least `daysListed`. */
  readonly daysObserved: number
}
