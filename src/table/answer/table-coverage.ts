// A table's coverage (contract 5.1: coverage) in answers, status and meta. Answers measure the age
// of feeds to the table's day and add the table's age; operators see today's coverage.

import type { CoverageAnswer, CoverageReport } from '../../api/coverage-answer.ts'
import { type Day, dayOf, formatDay } from '../../base/day.ts'
import {
  type CoverageState,
  type CoveredKind,
  type TableCoverage,
  freshDaysMax,
  tableDaysMax,
} from '../../model/coverage.ts'

interface Covered {
  readonly coverage: TableCoverage
  readonly asOf: Day
}

/** `undefined` if the table covers every kind and is not old. */
export function coverageOf({ coverage, asOf }: Covered, nowMs: number): CoverageAnswer | undefined {
  const missing = kindsIn(coverage, 'missing')
  const partly = kindsIn(coverage, 'partly')
  const age_days = ageDays(asOf, nowMs)
  if (age_days > tableDaysMax) return Object.freeze({ missing, partly, age_days })
  if (missing.length + partly.length === 0) return undefined
  return Object.freeze({ missing, partly })
}

/** A kind is missing if its newest feed is too old today. */
export function coverageToday({ coverage, asOf }: Covered, nowMs: number): Covered {
  const today = dayOf(nowMs)
  const aged = coverage.map((one) => {
    const isOld = one.newest !== undefined && today - one.newest >= freshDaysMax[one.kind]
    return isOld ? { ...one, state: 'missing' as const } : one
  })
  return { coverage: aged, asOf }
}

export const coverageReportOf = ({ coverage, asOf }: Covered, nowMs: number): CoverageReport => ({
  missing: kindsIn(coverage, 'missing'),
  partly: kindsIn(coverage, 'partly'),
  age_days: ageDays(asOf, nowMs),
  kinds: coverage.map(({ kind, state, newest, addresses }) => ({
    kind,
    state,
    newest: newest === undefined ? null : formatDay(newest),
    addresses,
  })),
})

const kindsIn = (coverage: TableCoverage, state: CoverageState): readonly CoveredKind[] =>
  Object.freeze(coverage.flatMap((one) => (one.state === state ? [one.kind] : [])))

/** Never below 0: a clock may lag behind a feed. */
const ageDays = (asOf: Day, nowMs: number): number => Math.max(0, dayOf(nowMs) - asOf)
