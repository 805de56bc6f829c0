// The feeds of the live table.

import { dayOf, formatDay } from '../../base/day.ts'
import { readBoundedFile } from '../../base/system/bounded-file.ts'
import { coverageReportOf, coverageToday } from '../../table/answer/table-coverage.ts'
import type { BuildReport } from '../../../build/build-report.ts'
import type { FeedDays } from '../feed-days.ts'
import type { FeedsView } from '../../api/admin-answers.ts'
import type { AnsweringParts } from './open-answering-parts.ts'

const historyDays = 60
/** Some hundred kilobytes are usual. */
const reportBytesMax = 8_388_608

export function feedsView(
  { table }: AnsweringParts,
  { report, days }: { readonly report: string; readonly days: FeedDays },
): FeedsView {
  const nowMs = Date.now()
  const failing = failingFeeds(report, table.id)
  const whyOf = new Map(failing.map(({ id, why }) => [id, why]))
  const { kinds } = coverageReportOf(coverageToday(table, nowMs), nowMs)
  return {
    table: table.id,
    as_of: formatDay(table.asOf),
    feeds: table.sources.map((source) => ({
      id: source.id,
      name: source.provider || source.id,
      kind: source.kind,
      day: formatDay(source.day),
      age_days: Math.max(0, dayOf(nowMs) - source.day),
      entries: source.entries,
      history: Array.from({ length: historyDays }, (_, at) => {
        return days[source.id]?.[String(table.asOf - historyDays + 1 + at)] ?? null
      }),
      quarantined:
        source.quarantined === true
          ? (whyOf.get(source.id) ??
            'its newest snapshot is kept out; the build report gives the reason')
          : null,
      licence: source.licence,
    })),
    failing,
    coverage: Object.fromEntries(
      kinds.map(({ kind, state, newest }) => [kind, { state, day: newest }]),
    ),
  }
}

/** None if the report is missing or another build's. */
function failingFeeds(path: string, table: string): FeedsView['failing'] {
  try {
    const { bytes } = readBoundedFile(path, { bytesMax: reportBytesMax })
    const report = JSON.parse(bytes.toString()) as Pick<
      BuildReport,
      'table' | 'feeds' | 'data_sets'
    >
    if (report.table.id !== table) return []
    return [...report.feeds, ...report.data_sets].flatMap(({ id, state, problem, quarantined }) => {
      const reasons = quarantined?.reasons ?? (isFailed(state) && problem ? [problem] : [])
      return reasons.length === 0 ? [] : [{ id, why: reasons.join('; ') }]
    })
  } catch {
    // The reasons are unknown.
    return []
  }
}

const isFailed = (state: string): boolean => state === 'missing' || state === 'stored'
