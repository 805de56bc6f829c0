// A verdict: everything that follows from evidence alone.

import type { Day } from '../base/day.ts'
import type { BotCategory, Classification, Confidence, ProxyType, Signals } from './kind.ts'

/** A part of the score. The points of all reasons add up to the score exactly. */
export interface Reason {
  /** Stable code, `vpn_listed` (src/score/points/reason-codes.ts). */
  readonly code: string
  /** Whole; negative for caps. */
  readonly points: number
}

export interface ProxyFinding {
  readonly confidence: Confidence
  readonly type: ProxyType
  readonly provider: string
  readonly lastSeen: Day
  /** 0 to 100, at most two decimals. */
  readonly percentDaysSeen: number
}

export interface BotFinding {
  readonly confidence: Confidence
  readonly provider: string
  readonly category: BotCategory
}

export interface Verdict {
  readonly classification: Classification
  readonly score: number
  readonly proxy: ProxyFinding | undefined
  readonly bot: BotFinding | undefined
  readonly signals: Signals
  readonly reasons: readonly Reason[]
}

/** The address' one provider; '' if unknown. */
export const verdictProvider = ({ proxy, bot }: Pick<Verdict, 'proxy' | 'bot'>): string =>
  proxy?.provider || bot?.provider || ''
