// One run of the compiler, whole: catalogue → fetch → compile → write → report. What a person sees
// goes through `tell`; what scripts read is the report. A feed that cannot be had, read or trusted
// costs that feed, never the build.

import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Day, dayOf } from '../src/base/day.ts'
import { IpriskError } from '../src/base/coded-error.ts'
import { packageRoot } from '../src/base/package-root.ts'
import { loadCatalogue } from './catalogue/load-catalogue.ts'
import type { Feed } from './catalogue/feed.ts'
import { type CompiledTable, compileTable } from './compile-table.ts'
import { type FetchMode, type ObtainedFile, obtainSnapshots } from './fetch/obtain-snapshots.ts'
import {
  candidatePath,
  judgeTable,
  promoteTable,
  buildRejected,
  rejectedPath,
} from './gate/promote-table.ts'
import type { SnapshotFile } from './evidence/read-snapshots.ts'
import { type BuildReport, newBuildReport } from './build-report.ts'
import { type BuildStages, type OnBuildProgress, newBuildStages } from './build-stages.ts'
import { writeTable } from './write/write-table.ts'
import { removeStaleTempFiles } from './write/stale-temp-files.ts'

export interface BuildOptions {
  readonly mode: FetchMode
  /** The day that counts as today; by default the median day of the snapshots. */
  readonly asOf: Day | undefined
  /** Where the table goes. */
  readonly out: string
  /** Where the JSON report goes. */
  readonly report: string
  /** The snapshot store. */
  readonly snapshots: string
  /** The store of the history of observations. */
  readonly history: string
  /** Feeds with an unstated licence, too. */
  readonly allFeeds: boolean
  /** Single feeds switched on or off, over the catalogue and `allFeeds`. */
  readonly feeds: Readonly<Record<string, boolean>>
  /** The operator's own data; by default that of the packages. */
  readonly networkFiles: readonly string[] | undefined
  readonly placeFiles: readonly string[] | undefined
  /** How many verdicts of the sample may differ from those of the table at `out`, percent. */
  readonly flipsMaxPercent: number
  /** The table goes live whatever the gate says. */
  readonly force: boolean
}

/**
 * Errors: those of the catalogue, of the network and place files, and of writing the table; and
 * `build_rejected` where the gate keeps the table from going live. The report is written then, too.
 */
export async function runBuild(options: BuildOptions, tell: OnBuildProgress): Promise<BuildReport> {
  const stages = newBuildStages(tell)
  const feeds = chooseFeeds(loadCatalogue(catalogueFolder), options)
  const obtained = await stages.run('fetch', async (say) => {
    const files = await obtainSnapshots({
      feeds,
      mode: options.mode,
      folder: options.snapshots,
      today: dayOf(Date.now()),
      onProgress(progress) {
        if (progress.kind === 'notice') tell({ kind: 'warn', text: progress.message })
        else say(`${progress.done} of ${progress.total}, ${progress.feed}`)
      },
    })
    say(fetchSummary(files))
    return files
  })
  for (const text of fetchWarnings(obtained, options.mode)) tell({ kind: 'warn', text })
  const compiled = await compileTable(
    {
      snapshots: obtained.flatMap(snapshotOf),
      asOf: options.asOf,
      history: options.history,
      networkFiles: options.networkFiles,
      placeFiles: options.placeFiles,
    },
    stages,
  )
  for (const { read } of compiled.files) {
    if (read.problem !== undefined) tell({ kind: 'warn', text: `${read.feed.id}: ${read.problem}` })
  }
  for (const text of compiled.problems) tell({ kind: 'warn', text })
  for (const text of quarantineLines(compiled)) tell({ kind: 'warn', text })
  try {
    return await goLive(compiled, { options, obtained, stages, tell })
  } finally {
    await compiled.transaction.release()
  }
}

/** Writes the table, judges it, and puts it where it belongs. */
async function goLive(
  compiled: CompiledTable,
  run: {
    readonly options: BuildOptions
    readonly obtained: readonly ObtainedFile[]
    readonly stages: BuildStages
    readonly tell: OnBuildProgress
  },
): Promise<BuildReport> {
  const { options, obtained, stages, tell } = run
  const candidate = candidatePath(options.out)
  const written = await stages.run('write', (say) => {
    removeStaleTempFiles(candidate)
    removeStaleTempFiles(options.report)
    const table = writeTable(candidate, compiled.assembled.content)
    say(`${(table.bytes / 1e6).toFixed(1)} MB, verified`)
    return table
  })
  const promotion = await stages.run('gate', async (say) => {
    const { networks } = compiled
    const judged = judgeTable({ ...options, candidate, live: options.out, networks })
    const compared = `${judged.flipped} of ${judged.sampled} verdicts differ`
    say(judged.not_compared === undefined ? compared : `not compared: ${judged.not_compared}`)
    // Before the table is moved: a build that is killed in between has judged its days good.
    if (judged.promoted) await compiled.transaction.commit()
    promoteTable(judged, { candidate, live: options.out })
    if (judged.promoted) await compiled.gate.commit()
    return judged
  })
  const path = promotion.promoted ? options.out : rejectedPath(options.out)
  const report = newBuildReport({
    compiled,
    written,
    obtained,
    stages: stages.done,
    path,
    promotion,
  })
  writeReport(options.report, report)
  if (!promotion.promoted) throw buildRejected(promotion, options)
  for (const text of promotion.reasons) tell({ kind: 'warn', text: `promoted by force: ${text}` })
  return report
}

/** Under a temporary name first, so that a reader never finds half a report. */
function writeReport(path: string, report: BuildReport): void {
  const temporary = `${path}.${process.pid}.tmp`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(temporary, `${JSON.stringify(report, null, 2)}\n`)
  renameSync(temporary, path)
}

export const catalogueFolder = join(packageRoot, 'data', 'feeds')

/** Enabled feeds: the catalogue's, all with `allFeeds`, then the single switches. */
export function chooseFeeds(
  catalogue: readonly Feed[],
  options: Pick<BuildOptions, 'allFeeds' | 'feeds'>,
): readonly Feed[] {
  const ids = new Set(catalogue.map((feed) => feed.id))
  const unknown = Object.keys(options.feeds).filter((id) => !ids.has(id))
  if (unknown.length > 0) {
    throw new IpriskError({
      code: 'unknown_feed',
      message: `No feed is called ${unknown.join(', ')}; \`iprisk feeds list\` names them all.`,
      fault: 'usage',
    })
  }
  return catalogue.filter((feed) => options.feeds[feed.id] ?? (options.allFeeds || feed.enabled))
}

function quarantineLines({ gate }: CompiledTable): readonly string[] {
  return [...gate.quarantined].map(
    ([feed, { reasons, instead }]) =>
      `${feed} is quarantined: ${reasons.join('; ')} (${instead} is used)`,
  )
}

function snapshotOf(obtained: ObtainedFile): SnapshotFile[] {
  const { feed, file, path, day } = obtained
  return path === undefined || day === undefined ? [] : [{ feed, file, path, day }]
}

function fetchSummary(files: readonly ObtainedFile[]): string {
  const counts = new Map<string, number>()
  for (const { state } of files) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ')
}

/** One line a problem with the feeds that have it; offline, one line for all that is not there. */
function fetchWarnings(files: readonly ObtainedFile[], mode: FetchMode): readonly string[] {
  const byProblem = new Map<string, Set<string>>()
  const missing = new Set<string>()
  for (const { feed, state, problem } of files) {
    if (state === 'missing' && mode.kind === 'offline') missing.add(feed.id)
    else if (problem !== undefined) {
      const instead = state === 'missing' ? 'built without it' : 'its last good snapshot is used'
      const text = `${problem} (${instead})`
      byProblem.set(text, (byProblem.get(text) ?? new Set()).add(feed.id))
    }
  }
  const lines = [...byProblem].map(([problem, feeds]) => `${[...feeds].join(', ')}: ${problem}`)
  if (missing.size > 0) {
    lines.push(
      `${missing.size} feeds were never fetched, so this table says nothing by them. ` +
        'Fetch them with `npx iprisk feeds fetch`, then build again.',
    )
  }
  return lines
}
