// One run of the compiler: catalogue → fetch → compile → write → report. `tell` gets progress for
// people; scripts read the report. A feed that fails costs that feed, never the build.

import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Day, dayOf } from '../src/base/day.ts'
import {
  IpriskError,
  feedsUnreachable,
  messageOf,
  environmentError,
} from '../src/base/coded-error.ts'
import { outputTarget, replaceFileSync } from '../src/base/system/atomic-file.ts'
import { catalogueFolder, loadWholeCatalogue } from './catalogue/load-catalogue.ts'
import { type CatalogueFeed, isDataSet, isFeed } from './catalogue/feed.ts'
import { type CompiledTable, compileTable } from './compile-table.ts'
import {
  editionLines,
  type FetchReport,
  fetchReport,
  fetchWarnings,
  isUnanswered,
  quarantineLine,
  statesText,
} from './fetch-report.ts'
import { limitsOfRun } from './fetch/fetch-limits.ts'
import { type FetchMode, type ObtainedFile, obtainSnapshots } from './fetch/obtain-snapshots.ts'
import {
  type HistoryTransaction,
  beginHistoryTransaction,
} from './acceptance/history-transaction.ts'
import {
  candidatePath,
  judgeTable,
  promoteTable,
  buildRejected,
  rejectedPath,
} from './acceptance/promote-table.ts'
import { missingFeeds, snapshotsOf } from './evidence/read-snapshots.ts'
import { type BuildReport, clampedLines, newBuildReport } from './build-report.ts'
import { type BuildStages, type OnBuildProgress, newBuildStages } from './build-stages.ts'
import { removeStaleTempFiles, writeTable } from './write/write-table.ts'

export interface BuildOptions {
  readonly mode: FetchMode
  readonly fetchSeconds: number
  /** Fail if feeds are to be fetched and none can be. */
  readonly needFeeds: boolean
  /** Do not fetch networks and places; use the newest local edition. */
  readonly keepDataSets: boolean
  /** Counts as today; by default the median day of the snapshots. */
  readonly asOf: Day | undefined
  readonly out: string
  readonly report: string
  readonly snapshots: string
  readonly history: string
  /** The operator's own feeds and changes to shipped ones. */
  readonly feedsFolder?: string | undefined
  readonly allFeeds: boolean
  /** Single feeds switched on or off, overriding the catalogue and `allFeeds`. */
  readonly feeds: Readonly<Record<string, boolean>>
  /** Licences that are allowed, whatever switched a feed on. */
  readonly licences?: readonly string[] | undefined
  /** The operator's own data; by default the packages'. */
  readonly networkFiles: readonly string[] | undefined
  readonly placeFiles: readonly string[] | undefined
  /** Percentage of sampled verdicts that may differ from those of the table at `out`. */
  readonly flipsMaxPercent: number
  readonly force: boolean
}

/**
 * Throws the errors of the catalogue, of network and place files and of writing the table;
 * `feeds_unreachable` with `needFeeds`; `history_locked` while another run writes the history;
 * `build_rejected`, with a report, if acceptance keeps the table from going live.
 */
export async function runBuild(named: BuildOptions, tell: OnBuildProgress): Promise<BuildReport> {
  // Candidate and rejected table lie beside the table itself, not beside a link to it.
  const options = { ...named, out: outputTarget(named.out), report: outputTarget(named.report) }
  const stages = newBuildStages(tell)
  const catalogue = loadWholeCatalogue(catalogueFolder, options.feedsFolder)
  const feeds = feedsOfBuild(catalogue, options)
  const refused = chooseFeeds(catalogue, { ...options, licences: undefined }).filter(
    (feed) => !isLicensed(feed, options.licences),
  )
  if (refused.length > 0) {
    const names = refused.map(({ id, licence }) => `${id} (${licence})`).join(', ')
    const text = `left out, because --licences does not name their licences: ${names}`
    tell({ kind: 'warn', text })
  }
  // Before fetching: the second of two concurrent first builds would find nothing stored, build a
  // table without feeds, and lock the first out of the history.
  const transaction = await beginHistoryTransaction(options.history, catalogue.filter(isFeed))
  try {
    return await buildTable(feeds, { options, transaction, stages, tell })
  } finally {
    await transaction.release()
  }
}

interface BuildRun {
  readonly options: BuildOptions
  readonly transaction: HistoryTransaction
  readonly stages: BuildStages
  readonly tell: OnBuildProgress
}

async function buildTable(feeds: readonly CatalogueFeed[], run: BuildRun): Promise<BuildReport> {
  const { options, transaction, stages, tell } = run
  const { lists, dataSets, fetched } = await stages.run('fetch', (say) =>
    obtainFeeds(feeds, run, say),
  )
  const compiled = await compileTable(
    {
      snapshots: snapshotsOf(lists),
      missing: missingFeeds(lists),
      dataSets,
      force: options.force,
      asOf: options.asOf,
      history: options.history,
      networkFiles: options.networkFiles,
      placeFiles: options.placeFiles,
      cache: join(dirname(options.snapshots), 'cache'),
    },
    transaction,
    stages,
  )
  const warnings = [
    ...compiled.files.flatMap(({ read: { feed, problem } }) =>
      problem === undefined ? [] : `${feed.id}: ${problem}`,
    ),
    ...compiled.problems,
    ...[...compiled.acceptance.quarantined].map((one) => quarantineLine(...one)),
    ...editionLines(compiled.editions, options),
    // By default the day is the median, and half of the feeds may be a day later.
    ...(options.asOf === undefined ? [] : clampedLines(compiled)),
  ]
  for (const text of warnings) tell({ kind: 'warn', text })
  return goLive(compiled, { ...run, obtained: lists, fetched })
}

async function obtainFeeds(
  feeds: readonly CatalogueFeed[],
  { options, tell }: BuildRun,
  say: (text: string) => void,
) {
  const { mode, keepDataSets } = options
  const notices: string[] = []
  const common = { folder: options.snapshots, today: dayOf(Date.now()) }
  const asked = keepDataSets ? feeds.filter(isFeed) : feeds
  const files = await obtainSnapshots({
    ...common,
    feeds: asked,
    mode,
    limits: limitsOfRun(options.fetchSeconds),
    onProgress(progress) {
      if (progress.kind === 'notice') notices.push(progress.message)
      else tell({ kind: 'step', text: `${progress.done} of ${progress.total}, ${progress.feed}` })
    },
  })
  const kept = keepDataSets ? feeds.filter(isDataSet) : []
  const stored = await obtainSnapshots({ ...common, feeds: kept, mode: { kind: 'offline' } })
  const lists = files.filter(({ feed }) => isFeed(feed))
  const dataSets = [...files.filter(({ feed }) => isDataSet(feed)), ...stored.map(notAsked)]
  say(statesText(lists))
  const fetched = fetchReport(lists, { mode, notices })
  if (options.needFeeds && mode.kind !== 'offline' && isUnanswered(fetched)) {
    const why = notices.at(-1) ?? lists.find(({ problem }) => problem !== undefined)?.problem
    throw environmentError('feeds_unreachable', `${feedsUnreachable}: ${why ?? ''}`, {
      retryable: true,
    })
  }
  for (const text of fetchWarnings(lists, { mode, notices })) tell({ kind: 'warn', text })
  return { lists, dataSets, fetched }
}

/** Its missing copy is not this run's fault. */
const notAsked = (file: ObtainedFile): ObtainedFile =>
  file.state === 'missing' ? { ...file, problem: 'nothing newer was asked for' } : file

async function goLive(
  compiled: CompiledTable,
  run: BuildRun & { readonly obtained: readonly ObtainedFile[]; readonly fetched: FetchReport },
): Promise<BuildReport> {
  const { options, transaction, obtained, fetched, stages, tell } = run
  const candidate = candidatePath(options.out)
  const written = await stages.run('write', (say) => {
    removeStaleTempFiles(candidate)
    removeStaleTempFiles(options.report)
    const table = writeTable(candidate, compiled.assembled.content)
    say(`${(table.bytes / 1e6).toFixed(1)} MB, verified`)
    return table
  })
  const promotion = await stages.run('acceptance', async (say) => {
    const { networks } = compiled
    const judged = judgeTable({ ...options, candidate, live: options.out, networks })
    const compared = `${judged.flipped} of ${judged.sampled} verdicts differ`
    say(judged.not_compared === undefined ? compared : `not compared: ${judged.not_compared}`)
    // Before the table is moved: a build killed in between has accepted its days.
    if (judged.promoted) await transaction.commit()
    promoteTable(judged, { candidate, live: options.out })
    if (judged.promoted) {
      await compiled.acceptance.commit()
      for (const edition of compiled.editions) await edition.commit()
    }
    return judged
  })
  const path = promotion.promoted ? options.out : rejectedPath(options.out)
  const of = { compiled, written, obtained, fetched, path, promotion }
  const report = newBuildReport({ ...of, stages: stages.done })
  try {
    mkdirSync(dirname(options.report), { recursive: true })
    replaceFileSync(options.report, `${JSON.stringify(report, null, 2)}\n`)
  } catch (thrown) {
    // The table's outcome is decided, and matters more.
    const text = `The report could not be written to ${options.report}: ${messageOf(thrown)}`
    tell({ kind: 'warn', text })
  }
  if (!promotion.promoted) throw buildRejected(promotion, options)
  for (const text of promotion.reasons)
    tell({ kind: 'warn', text: `promoted with --force: ${text}` })
  return report
}

/** The catalogue's feeds, or all with `allFeeds`, then single switches, then licences. */
export function chooseFeeds(
  catalogue: readonly CatalogueFeed[],
  options: Pick<BuildOptions, 'allFeeds' | 'feeds' | 'licences'>,
): readonly CatalogueFeed[] {
  const unknown = unknownFeeds(catalogue, options)
  if (unknown.length > 0) {
    throw new IpriskError({
      code: 'unknown_feed',
      message: `No feed is called ${unknown.join(', ')}; \`iprisk feeds list\` names them all.`,
      fault: 'usage',
    })
  }
  return catalogue
    .filter((feed) => options.feeds[feed.id] ?? (options.allFeeds || feed.enabled))
    .filter((feed) => isLicensed(feed, options.licences))
}

/** Without the data sets whose place the operator's own files take. */
export function feedsOfBuild(
  catalogue: readonly CatalogueFeed[],
  options: Parameters<typeof chooseFeeds>[1] & Pick<BuildOptions, 'networkFiles' | 'placeFiles'>,
): readonly CatalogueFeed[] {
  const own = { networks: options.networkFiles, places: options.placeFiles }
  return chooseFeeds(catalogue, options).filter(
    (feed) => !isDataSet(feed) || own[feed.kind] === undefined,
  )
}

/** Every table needs data sets; exports and publishing check their licences. */
function isLicensed(feed: CatalogueFeed, licences: BuildOptions['licences']): boolean {
  if (licences === undefined || isDataSet(feed)) return true
  return licences.some((licence) => licence.toLowerCase() === feed.licence.toLowerCase())
}

/** Names in the single switches that are not feeds. */
export function unknownFeeds(
  catalogue: readonly CatalogueFeed[],
  { feeds }: Pick<BuildOptions, 'feeds'>,
): readonly string[] {
  const ids = new Set(catalogue.map((feed) => feed.id))
  return Object.keys(feeds).filter((id) => !ids.has(id))
}
