// Whether the feeds of a table cover every kind today: addresses of a missing kind look clean.

import { type Day, dayOf, formatDay } from '../../base/day.ts'
import { type KindCoverage, type TableCoverage, freshDaysMax } from '../../model/coverage.ts'
import { coverageToday } from '../../table/answer/table-coverage.ts'
import { type DoctorFinding, problem } from './doctor-finding.ts'

const fetchFix =
  'Run "iprisk feeds fetch", then "iprisk build"; its report says which feed cannot be had, and why.'

export function checkCoverage(
  table: { readonly asOf: Day; readonly coverage: TableCoverage },
  nowMs: number,
): readonly DoctorFinding[] {
  // The clock may lag behind the table.
  const day = Math.max(table.asOf, dayOf(nowMs)) as Day
  const gaps = coverageToday(table, nowMs).coverage.filter(({ state }) => state !== 'full')
  const old = gaps.filter(({ state, newest }) => state === 'missing' && newest !== undefined)
  const missing = gaps.filter((gap) => !old.includes(gap))
  const findings: DoctorFinding[] = []
  if (missing.length > 0) {
    const text = `The table does not know all that it should: ${missing.map(gapText).join('; ')}.`
    findings.push(problem('feeds_missing', text, fetchFix))
  }
  if (old.length > 0) {
    const days = old.map(
      ({ kind, newest }) =>
        `${kind} (${newest === undefined ? '' : formatDay(newest)}, at most ${freshDaysMax[kind]} days)`,
    )
    const text = `As of ${formatDay(day)}, every feed of these kinds in the table is too old: ${days.join(', ')}.`
    findings.push(problem('feeds_old', text, fetchFix))
  }
  return findings
}

function gapText({ kind, state, newest }: KindCoverage): string {
  if (state === 'missing') return `no feed of kind ${kind} is in it`
  if (newest === undefined) return `of kind ${kind} it has hand-kept tables alone`
  return `its feeds of kind ${kind} hold less than half of what they usually do`
}
