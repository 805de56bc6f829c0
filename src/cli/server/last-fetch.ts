// Whether the build of the present table could ask for its feeds, by its report. Where the run
// ended early, or nobody answered, the server catches up. A single feed that stays away is left to
// the daily refresh: for it alone a second whole build is too much.

import { readFileSync } from 'node:fs'
import type { BuildReport } from '../../../build/build-report.ts'

/** False where there is no report, of a table that came from elsewhere. */
export function lacksFeeds(report: string): boolean {
  try {
    const { fetch } = JSON.parse(readFileSync(report, 'utf8')) as Pick<BuildReport, 'fetch'>
    return fetch.cut_short !== null || (fetch.asked > 0 && fetch.answered === 0)
  } catch {
    return false
  }
}
