// Coverage (contract 5.1: coverage): which kinds a table's feeds cover. The build counts it
// (build/evidence/kind-coverage.ts) and stores it in the header; every answer of a table with
// incomplete coverage has it.

import type { Day } from '../base/day.ts'
import type { Kind } from './kind.ts'

/** Kinds that make an answer other than clean; relays only excuse. */
export const coveredKinds = [
  'tor',
  'vpn',
  'proxy',
  'residential_proxy',
  'hosting',
  'bot',
  'blocklist',
] as const satisfies readonly Kind[]
export type CoveredKind = (typeof coveredKinds)[number]

/**
 * Days up to the table's `as_of` in which a feed is fresh. Exits and proxies change within days,
 * the others within weeks.
 */
export const freshDaysMax: Readonly<Record<CoveredKind, number>> = {
  tor: 3,
  vpn: 45,
  proxy: 7,
  residential_proxy: 7,
  hosting: 45,
  bot: 45,
  blocklist: 45,
}

/** A table more days past `as_of`, by the answering machine's clock, reports its age. */
export const tableDaysMax = 7

/** The share of their usual entries that a kind's fresh feeds need for full coverage. */
export const usualShareMin = 0.5

/**
 * `full`: fresh feeds; `partly`: only hand-kept tables, or feeds with less than half of their usual
 * entries; `missing`: neither.
 */
export const coverageStates = ['full', 'partly', 'missing'] as const
export type CoverageState = (typeof coverageStates)[number]

export interface KindCoverage {
  readonly kind: CoveredKind
  readonly state: CoverageState
  /** The newest day of its feeds; `undefined` without any. */
  readonly newest: Day | undefined
  /** IPv4 addresses on its feeds, without hand-kept tables. */
  readonly addresses: number
}

/** One for each of `coveredKinds`, in their order. */
export type TableCoverage = readonly KindCoverage[]
