// Whether the networks and places under a table are of late: space changes hands, and an address's
// network decides much of its verdict.

import { ageSeconds, formatDay } from '../../base/day.ts'
import { formatTimeSpan } from '../../base/text/number-format.ts'
import { type Source, dataSetOf } from '../../table/file/table-source.ts'
import { type DoctorFinding, advice } from './doctor-finding.ts'

/**
 * The alert's limit, too: three monthly editions of places. At the pace measured in docs/acceptance.md
 * some 0.7 % of the IPv4 addresses have another country by then, and 1.4 % another origin AS.
 */
export const dataSetDaysMax = 90

const forceFix =
  'The build says what it changes ("kept out"). Where that is as it should be, take it: run ' +
  '"iprisk build --force".'

const fix =
  'Run "iprisk build" with a network or a mirror that has newer editions, or name files of your ' +
  'own with --networks and --locations.'

export function checkDataSets(sources: readonly Source[], now: number): readonly DoctorFinding[] {
  return sources.flatMap((source) => {
    const name = dataSetOf(source)
    const age = ageSeconds(source.day, now)
    if (name === undefined || age <= dataSetDaysMax * 86_400) return []
    const why = source.quarantined === true ? ' A newer edition is quarantined.' : ''
    const text =
      `The ${name} of the table (${source.id}) are of ${formatDay(source.day)}, ` +
      `${formatTimeSpan(age)} ago.${why}`
    return [advice(`${name}_old`, text, source.quarantined === true ? forceFix : fix)]
  })
}
