// A table's coverage for people: one line per kind, and gaps in red.

import type { CoverageAnswer, CoverageReport } from '../../api/coverage-answer.ts'
import { alignColumns } from '../../base/text/align-columns.ts'
import { formatCount } from '../../base/text/number-format.ts'
import type { Line } from './io.ts'

const stateTexts = {
  full: 'covered',
  partly: 'partly',
  missing: 'MISSING',
} as const satisfies Readonly<Record<CoverageReport['kinds'][number]['state'], string>>

export function coverageLines({ kinds }: CoverageReport): readonly string[] {
  const rows = kinds.map(({ kind, state, newest, addresses }) => [
    kind,
    state === 'missing' && newest !== null ? 'TOO OLD' : stateTexts[state],
    newest === null ? 'no feed' : `newest feed ${newest}`,
    `${formatCount(addresses)} IPv4 addresses`,
  ])
  return alignColumns(rows, 4)
}

/** Empty if the table covers every kind and is not old. */
export function coverageGaps(coverage: CoverageAnswer | undefined): readonly Line[] {
  if (coverage === undefined) return []
  const { missing, partly, age_days: age } = coverage
  return [
    ...(missing.length === 0 ? [] : [`this table has no data for ${missing.join(', ')}`]),
    ...(partly.length === 0
      ? []
      : [`this table has only some of the data for ${partly.join(', ')}`]),
    ...(age === undefined ? [] : [`this table is ${age} days old`]),
  ].map((text) => [{ text, style: 'red' }])
}
