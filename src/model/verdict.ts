// A verdict: all that evidence alone decides.

import type { Day } from '../base/day.ts'
import type { BotCategory, Classification, Confidence, ProxyType, Signals } from './kind.ts'

/** One explained part of the score. The points of all reasons add up to the score exactly. */
export interface Reason {
  /** Stable code, `vpn_listed` (src/score/points/reason-codes.ts). */
  readonly code: string
  /** Whole points, negative for a cap. */
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
  /** 0 to 100, whole. */
  readonly score: number
  readonly proxy: ProxyFinding | undefined
  readonly bot: BotFinding | undefined
  readonly signals: Signals
  readonly reasons: readonly Reason[]
}

/** The one provider to name of an address; '' where none is known. */
export function verdictProvider({ proxy, bot }: Pick<Verdict, 'proxy' | 'bot'>): string {
  return proxy?.provider || bot?.provider || ''
}
