// The feeds of the live table.

import { dayOf, formatDay } from '../../base/day.ts'
import { readBoundedFile } from '../../base/system/bounded-file.ts'
import { coverageReportOf, coverageToday } from '../../table/answer/table-coverage.ts'
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
  const reasons = quarantineReasons(report, table.id)
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
          ? (reasons.get(source.id) ?? 'its newest snapshot is kept out; the build report says why')
          : null,
      licence: source.licence,
    })),
    coverage: Object.fromEntries(
      kinds.map(({ kind, state, newest }) => [kind, { state, day: newest }]),
    ),
  }
}

/** By feed; empty if the report is missing or another build's. */
function quarantineReasons(path: string, table: string): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>()
  try {
    const { bytes } = readBoundedFile(path, { bytesMax: reportBytesMax })
    const report = JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>>
    const { id } = report['table'] as { readonly id?: unknown }
    if (id !== table) return reasons
    const all = [report['feeds'], report['data_sets']].flat() as readonly {
      readonly id?: unknown
      readonly quarantined?: { readonly reasons?: unknown }
    }[]
    for (const { id: feed, quarantined } of all) {
      const texts: unknown = quarantined?.reasons
      if (Array.isArray(texts)) reasons.set(String(feed), texts.map(String).join('; '))
    }
  } catch {
    // The reasons are unknown.
  }
  return reasons
}
