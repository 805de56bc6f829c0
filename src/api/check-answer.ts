// The wire form of a check's answer (contract 2 and 3.4): every member is always there; only
// network, location, proxy and bot may be null. Member order is the order on the wire.

import type {
  BotCategory,
  Classification,
  Confidence,
  Level,
  NetworkType,
  ProxyType,
  Signals,
} from '../model/kind.ts'
import type { Location } from '../model/location.ts'

export interface NetworkAnswer {
  readonly asn: number
  readonly organization: string
  readonly type: NetworkType
  readonly mobile: boolean
}

export interface ProxyAnswer {
  readonly confidence: Confidence
  readonly type: ProxyType
  readonly provider: string
  /** YYYY-MM-DD, UTC. */
  readonly last_seen_at: string
  readonly percent_days_seen: number
}

export interface BotAnswer {
  readonly confidence: Confidence
  readonly provider: string
  readonly category: BotCategory
}

export interface CheckAnswer {
  readonly classification: Classification
  readonly risk_level: Level
  readonly risk_score: number
  /** The address as sent. */
  readonly ip: string
  readonly version: 4 | 6
  /** Only where `ip` is not the canonical text of what was judged (contract 3.9). */
  readonly address?: string
  readonly network: NetworkAnswer | null
  readonly location: Location | null
  readonly proxy: ProxyAnswer | null
  readonly bot: BotAnswer | null
  readonly signals: Signals
  /** Stable codes. */
  readonly reasons: readonly string[]
  /** Id of the table that answered. */
  readonly table: string
}
