// Coverage (contract 5.1): which kinds the feeds of a table cover. Counted by the build
// (build/evidence/kind-coverage.ts), kept in the header, in every answer of a table that does not
// cover all of them.

import type { Day } from '../base/day.ts'
import type { Kind } from './kind.ts'

/** The kinds that make an answer something other than clean; relays excuse, they accuse nobody. */
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
 * A feed is fresh while it is younger than this, in days on the table's `as_of` day. Exits and
 * proxies move within days; the others state what stands for weeks.
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

/** From more days past `as_of` on, by the clock of whoever answers, a table says its age. */
export const tableDaysMax = 7

/** Of their usual entries, what the fresh feeds of a kind must hold to cover it in full. */
export const usualShareMin = 0.5

/**
 * `full`: by fresh feeds; `partly`: by hand-kept tables alone, or by feeds that hold less than half
 * of what they usually do; `missing`: by nothing.
 */
export const coverageStates = ['full', 'partly', 'missing'] as const
export type CoverageState = (typeof coverageStates)[number]

export interface KindCoverage {
  readonly kind: CoveredKind
  readonly state: CoverageState
  /** The newest day of its feeds; `undefined` where the table has none. */
  readonly newest: Day | undefined
  /** IPv4 addresses that its feeds list; hand-kept tables do not count. */
  readonly addresses: number
}

/** One for each of `coveredKinds`, in their order. */
export type TableCoverage = readonly KindCoverage[]
