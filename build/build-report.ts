// The build report, as JSON for scripts; build-summary.ts shows it to people.

import { groupBy } from '../src/base/counts.ts'
import { type Day, formatDay } from '../src/base/day.ts'
import { type Classification, classifications } from '../src/model/kind.ts'
import { coverageReportOf } from '../src/table/answer/table-coverage.ts'
import { formatCounted } from '../src/base/text/number-format.ts'
import { joinFew } from '../src/base/text/shortened-list.ts'
import type { CompiledTable, NormalisedFile } from './compile-table.ts'
import type { FetchReport } from './fetch-report.ts'
import { newestDay } from './evidence/read-snapshots.ts'
import { type ObtainedFile, stateOfFeed } from './fetch/obtain-snapshots.ts'
import { type BuildStage, peakBytes } from './build-stages.ts'
import type { WrittenTable } from './write/write-table.ts'
import type { PromotionReport } from './acceptance/promote-table.ts'

export type BuildReport = ReturnType<typeof newBuildReport>
export type FeedReport = BuildReport['feeds'][number]
export type DataSetReport = BuildReport['data_sets'][number]

export function newBuildReport(facts: {
  readonly compiled: CompiledTable
  readonly written: WrittenTable
  readonly obtained: readonly ObtainedFile[]
  readonly fetched: FetchReport
  readonly stages: readonly BuildStage[]
  readonly path: string
  readonly promotion: PromotionReport
}) {
  const { compiled, written, obtained, fetched, stages, path, promotion } = facts
  const { assembled, networks } = compiled
  return {
    table: {
      path,
      id: written.id,
      as_of: formatDay(compiled.asOf),
      bytes: written.bytes,
      ipv4_boundaries: assembled.boundaries[4],
      ipv6_boundaries: assembled.boundaries[6],
      networks: networks.networks.length,
      locations: compiled.locationCount,
      verdicts: assembled.verdicts.length,
    },
    fetch: fetched,
    feeds: feedReports(compiled, obtained),
    coverage: coverageReportOf(assembled.content, 0).kinds,
    /** IPv4 addresses and IPv6 /64s with evidence of each kind. */
    kinds: compiled.listed.byKind,
    promotion,
    data_sets: compiled.editions.map(({ feed, edition, from, problem, quarantine }) => ({
      id: feed.id,
      kind: feed.kind as string,
      day: formatDay(edition.day),
      /**
       * embedded (in the installed package), fetched, stored (fetched earlier), kept (last good
       * one).
       */
      state: from as string,
      /** Why nothing newer is used. */
      problem,
      quarantined: quarantine,
    })),
    verdicts: countClasses(assembled.verdicts.map((verdict) => verdict.classification)),
    networks: {
      bad_rows: networks.stats.problems.count,
      first_bad: networks.stats.problems.samples,
    },
    stages,
    seconds: Math.round(stages.reduce((sum, stage) => sum + stage.seconds, 0) * 1000) / 1000,
    peak_bytes: peakBytes(),
  }
}

function feedReports(compiled: CompiledTable, obtained: readonly ObtainedFile[]) {
  const states = groupBy(obtained, ({ feed }) => feed.id)
  const results = groupBy(compiled.files, ({ read }) => read.feed.id)
  const ids = [...new Set([...results.keys(), ...states.keys()])].sort()
  return ids.map((id) => {
    const files = results.get(id) ?? []
    const own = states.get(id)
    const got = own && stateOfFeed(own)
    const problem = files.find((file) => file.read.problem !== undefined)?.read.problem
    return {
      id,
      kind: files[0]?.read.feed.kind ?? own?.[0]?.feed.kind ?? '',
      /** YYYY-MM-DD of the snapshot; absent without one. */
      day: files.length === 0 ? undefined : formatDay(newestDay(files.map(({ read }) => read))),
      /** The snapshot is newer than the table's day and counts as of that day. */
      clamped: files.some((file) => isClamped(file, compiled.asOf)) || undefined,
      /**
       * fresh, unchanged, recent (fetched a short while ago, so not requested), stored (an older
       * snapshot in place of a failed fetch), missing (see `quarantined` for its replacement).
       */
      state: got?.state ?? 'built in',
      entries: sum(files, (file) => file.read.tally.entryCount),
      kept: sum(files, (file) => file.kept),
      dropped: dropsOf(files),
      unique: sum(files, (file) => file.kept - file.duplicates),
      /** Ranges listed lately but no longer; their evidence fades. */
      lapsed: files[0]?.lapsed ?? 0,
      /** IPv4 addresses that no other feed of its kind lists. */
      alone_ipv4: compiled.listed.aloneIpv4.get(files[0]?.source ?? -1) ?? 0,
      /** `file:place: reason: sample` of the first entries that were not taken. */
      first_bad: files.flatMap((file) => file.read.tally.bad).slice(0, 5),
      problem: problem ?? got?.problem,
      /** What kind of fetch problem: dead, moved, failing. */
      trouble: got?.trouble,
      /** Why its newest snapshot is not used, and what replaces it. */
      quarantined: compiled.acceptance.quarantined.get(id),
    }
  })
}

const clampedShownMax = 12

/**
 * One line on snapshots newer than the table's day, if any (contract 4: later snapshots are
 * clamped).
 */
export function clampedLines(of: Pick<CompiledTable, 'files' | 'asOf'>): readonly string[] {
  const { files, asOf } = of
  const late = files.filter((file) => isClamped(file, asOf)).map(({ read }) => read)
  const later = new Map(late.map(({ feed: { id }, day }) => [id, `${id} (${formatDay(day)})`]))
  if (later.size === 0) return []
  const feeds = joinFew([...later.values()], clampedShownMax)
  return [
    `${formatCounted(later.size, 'feed is', 'feeds are')} of a later day and counted as of ` +
      `${formatDay(asOf)}, so the table knows more than was known then: ${feeds}`,
  ]
}

/** Hand-kept tables have no snapshot. */
const isClamped = ({ read }: NormalisedFile, asOf: Day): boolean =>
  read.feed.files.length > 0 && read.day > asOf

const sum = (files: readonly NormalisedFile[], figure: (file: NormalisedFile) => number): number =>
  files.reduce((total, file) => total + figure(file), 0)

function dropsOf(files: readonly NormalisedFile[]): Readonly<Record<string, number>> {
  const drops: Record<string, number> = {}
  for (const { read } of files) {
    for (const [reason, count] of read.tally.drops) drops[reason] = (drops[reason] ?? 0) + count
  }
  return drops
}

function countClasses(all: readonly Classification[]) {
  const counts: Partial<Record<Classification, number>> = {}
  for (const name of classifications) {
    const count = all.filter((one) => one === name).length
    if (count > 0) counts[name] = count
  }
  return counts
}
