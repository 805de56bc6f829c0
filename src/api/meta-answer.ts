// The wire form of GET /v1/intelligence/ip-risk/meta (contract 3.17): the table that answers, its
// feeds with their ages and licences, the thresholds and value lists of an answer, and what the
// asking key may do, and how much of its limits is left just now.

import { type Day, formatDay } from '../base/day.ts'
import {
  botCategories,
  classifications,
  confidences,
  levels,
  networkTypes,
  proxyTypes,
  signalNames,
} from '../model/kind.ts'
import { accuracies } from '../model/location.ts'

const secondsPerDay = 86_400

/** Every closed list of an answer, and the open-ended network types as far as they are in use. */
export const valueLists = {
  classification: classifications,
  risk_level: levels,
  confidence: confidences,
  network_type: networkTypes,
  proxy_type: proxyTypes,
  bot_category: botCategories,
  signal: signalNames,
  location_accuracy: accuracies,
} as const

export interface MetaFeed {
  readonly id: string
  readonly kind: string
  readonly provider: string
  readonly licence: string
  readonly homepage: string
  /** YYYY-MM-DD, the day of the snapshot in the table. */
  readonly day: string
  readonly age_seconds: number
  readonly entries: number
}

export interface MetaThreshold {
  readonly risk_level: string
  readonly risk_score_min: number
  readonly risk_score_max: number
}

export interface MetaRemaining {
  readonly remaining: number
  /** Until all of it is back. */
  readonly reset_seconds: number
}

export interface MetaKey {
  readonly id: string
  readonly plan: string
  readonly apis: readonly string[]
  readonly insights: string
  /** A limit that does not exist is null. */
  readonly limits: {
    readonly rate: ({ readonly per_second: number; readonly burst: number } & MetaRemaining) | null
    readonly quota: ({ readonly per_month: number } & MetaRemaining) | null
  }
}

export interface MetaAnswer {
  readonly table: {
    readonly id: string
    readonly as_of: string
    readonly age_seconds: number
    readonly bytes: number
  }
  readonly feeds: readonly MetaFeed[]
  readonly thresholds: readonly MetaThreshold[]
  readonly values: typeof valueLists
  readonly key: MetaKey
}

/** What the answer is made from. Levels come highest first, each with its least score. */
export interface MetaInput {
  readonly table: {
    readonly id: string
    readonly asOf: Day
    readonly bytes: number
    readonly sources: readonly {
      readonly id: string
      readonly kind: string
      readonly provider: string
      readonly licence: string
      readonly homepage: string
      readonly day: Day
      readonly entries: number
    }[]
  }
  readonly levelFloors: readonly { readonly level: string; readonly least: number }[]
  readonly key: MetaKey
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Seconds since the beginning of `day`, never below 0: a clock may lag behind a feed. */
export function ageSeconds(day: Day, now: number): number {
  return Math.max(0, Math.floor(now / 1000) - day * secondsPerDay)
}

export function metaAnswer({ table, levelFloors, key, now }: MetaInput): MetaAnswer {
  return {
    table: {
      id: table.id,
      as_of: formatDay(table.asOf),
      age_seconds: ageSeconds(table.asOf, now),
      bytes: table.bytes,
    },
    feeds: table.sources.map((source) => ({
      id: source.id,
      kind: source.kind,
      provider: source.provider,
      licence: source.licence,
      homepage: source.homepage,
      day: formatDay(source.day),
      age_seconds: ageSeconds(source.day, now),
      entries: source.entries,
    })),
    thresholds: levelFloors.map(({ level, least }, i) => ({
      risk_level: level,
      risk_score_min: least,
      risk_score_max: i === 0 ? 100 : levelFloors[i - 1]!.least - 1,
    })),
    values: valueLists,
    key,
  }
}
