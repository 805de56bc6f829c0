// The wire form of `insights` (contract 3.15): why an answer is what it is, for those who have to
// explain or dispute it. Member order is the order on the wire. Everything follows from the table.

import type { Classification, Confidence, Kind, Level, Match } from '../model/kind.ts'
import type { CheckAnswer } from './check-answer.ts'

export interface InsightReason {
  readonly code: string
  readonly text: string
  /** The points of all reasons add up to risk_score. */
  readonly points: number
}

export interface InsightEvidence {
  readonly feed: string
  readonly kind: Kind
  readonly provider: string
  /** Address, prefix or range that the feed lists; `AS64496` where it means the whole AS. */
  readonly matched: string
  readonly match: Match
  /** YYYY-MM-DD. */
  readonly first_seen: string
  readonly last_seen: string
  /** Of the last 30 days: listed, and with a snapshot of the feed. */
  readonly days_seen: number
  readonly days_observed: number
  /** What this piece alone would give its finding (contract 3.2). */
  readonly confidence: Confidence
  /** 0 to 1: how much the feed's word counts. */
  readonly weight: number
  /** For blocklists: how many lists name it; 1 elsewhere. */
  readonly lists: number
  readonly licence: string
}

/** What of one kind is listed in a piece of the address space. */
export interface InsightDensity {
  readonly kind: Kind
  /** In the scope's unit. */
  readonly listed: number
  /** Of the scope's size. */
  readonly percent: number
  /** percent over that of the whole AS; null for the AS itself, and where the AS is unknown. */
  readonly times_asn: number | null
}

export interface InsightScope {
  /** `192.0.2.0/24`, `AS64496`. */
  readonly scope: string
  /** What is counted: IPv6 is counted by /64, a customer's line. */
  readonly unit: 'address' | '/64'
  readonly size: number
  /** Kinds of which nothing is listed are left out. */
  readonly listed: readonly InsightDensity[]
}

export interface InsightWithoutFeed {
  readonly feed: string
  readonly classification: Classification
  readonly risk_level: Level
  readonly risk_score: number
}

export interface InsightFallsBelow {
  readonly risk_level: Level
  /** The first day, if nothing is seen again; null where it never comes. */
  readonly day: string | null
}

export interface InsightAlternative {
  readonly classification: Classification
  readonly strength: number
  readonly confidence: Confidence
}

export interface Insights {
  readonly table: {
    readonly id: string
    /** When the table file was written (its mtime: `cp -p` keeps it), RFC 3339 in UTC. */
    readonly built_at: string
    /** YYYY-MM-DD. */
    readonly as_of: string
  }
  /** Least and greatest score by the uncertainty of the weights. */
  readonly score_range: readonly [number, number]
  readonly reasons: readonly InsightReason[]
  readonly evidence: readonly InsightEvidence[]
  readonly neighborhood: readonly InsightScope[]
  readonly counterfactuals: {
    readonly without_feed: readonly InsightWithoutFeed[]
    /** For every level reached, but the lowest. */
    readonly falls_below: readonly InsightFallsBelow[]
  }
  readonly alternatives: readonly InsightAlternative[]
}

/** A check's answer with its insights; null where the table is too old to give any. */
export interface InsightsAnswer extends CheckAnswer {
  readonly insights: Insights | null
}
