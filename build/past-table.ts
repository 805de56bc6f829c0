// The table of a past day (contract 6.9: past days): each feed's newest stored day up to that day,
// judged by today's compiler with today's networks, places and AS facts, which the history does not
// keep. Made once and kept beside the history, under its day and a hash of its inputs.
//
// Invariants: it answers as the table of a build whose mirror serves those days; the history and what
// acceptance remembers stay as they are.

import { createHash } from 'node:crypto'
import { existsSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { usageError } from '../src/base/coded-error.ts'
import { type Day, dayOf, formatDay } from '../src/base/day.ts'
import { packageVersion } from '../src/base/package-root.ts'
import { namesIn } from '../src/base/system/atomic-file.ts'
import { formatCounted } from '../src/base/text/number-format.ts'
import { beginHistoryTransaction } from './acceptance/history-transaction.ts'
import { readNewestDay } from './acceptance/last-good.ts'
import { newBuildStages, type OnBuildProgress } from './build-stages.ts'
import { type Feed, isDataSet, isFeed } from './catalogue/feed.ts'
import { catalogueFolder, loadWholeCatalogue } from './catalogue/load-catalogue.ts'
import { compileTable } from './compile-table.ts'
import { type ParsedSnapshot, parseSnapshot, snapshotsOf } from './evidence/read-snapshots.ts'
import { quarantineLine } from './fetch-report.ts'
import { type ObtainedFile, obtainSnapshots } from './fetch/obtain-snapshots.ts'
import { type DayFile, dayFiles } from './history/history-days.ts'
import { type BuildOptions, feedsOfBuild } from './run-build.ts'
import { removeStaleTempFiles, writeTable } from './write/write-table.ts'

/** A table has some 200 MB. */
const pastTablesMax = 5

export type PastTableOptions = Omit<BuildOptions, 'asOf'> & { readonly day: Day }

/** Throws `usage` for a day that the history does not reach, and what a build throws. */
export async function pastTable(options: PastTableOptions, tell: OnBuildProgress) {
  const { history: store, snapshots: folder, day } = options
  const today = dayOf(Date.now())
  const catalogue = loadWholeCatalogue(catalogueFolder, options.feedsFolder)
  const feeds = feedsOfBuild(catalogue, options)
  const listing = feeds.filter((feed) => isFeed(feed) && feed.kind !== 'network')
  const stored = new Map<Feed, readonly DayFile[]>()
  for (const feed of feeds.filter(isFeed)) stored.set(feed, await dayFiles({ store }, feed.id))
  const first = Math.min(...[...stored.values()].map(([oldest]) => oldest?.day ?? Infinity))
  if (!(first <= day && day <= today)) throw outOfReach(store, first, day)
  const upTo = [...stored].flatMap(([feed, files]) => {
    const past = files.filter((file) => file.day <= day)
    return past.length === 0 ? [] : [{ feed, files: past }]
  })
  const asked = feeds.filter((feed) => !isFeed(feed) || mayKnowAses(feed, stored))
  const current = await obtainSnapshots({ feeds: asked, mode: { kind: 'offline' }, folder, today })
  const own = [...(options.networkFiles ?? []), ...(options.placeFiles ?? [])]
  const inputs = [
    ...upTo.flatMap(({ files }) => files.map(({ path }) => path)),
    ...current.flatMap(({ path }) => path ?? []),
    ...own,
  ]
  const name = `${formatDay(day)}-${hashOf({ feeds, own }, inputs)}.iprisk`
  const path = join(store, '.past', name)
  if (!existsSync(path)) {
    await build(path, { options, upTo: upTo.map(({ feed }) => feed), current }, tell)
    removeOldest(dirname(path))
  }
  /** `listing`: the feeds that can have days; the table's sources name those that had. */
  return { path, listing: listing.map(({ id }) => id) }
}

/** Facts about ASes are not listings of a day, and feeds that say nothing else have no day. */
const mayKnowAses = (feed: Feed, stored: ReadonlyMap<Feed, readonly DayFile[]>): boolean =>
  feed.kind !== 'blocklist' && stored.get(feed)?.length === 0

async function build(
  path: string,
  of: {
    readonly options: PastTableOptions
    readonly upTo: readonly Feed[]
    readonly current: readonly ObtainedFile[]
  },
  tell: OnBuildProgress,
): Promise<void> {
  const { day, history, networkFiles, placeFiles, snapshots } = of.options
  const stages = newBuildStages(tell)
  const transaction = await beginHistoryTransaction(history)
  try {
    const read = await stages.run('days', async (say) => {
      const files: ParsedSnapshot[] = []
      for (const feed of of.upTo) {
        files.push(...((await readNewestDay(history, feed, day))?.files ?? []))
      }
      for (const snapshot of snapshotsOf(of.current)) {
        const file = await parseSnapshot(snapshot)
        const isOfNetworks = file.feed.kind === 'network'
        const entries = file.entries.filter(({ range }) => isOfNetworks || range === undefined)
        if (entries.length > 0) files.push({ ...file, entries })
      }
      say(formatCounted(files.length, 'file', 'files'))
      return files
    })
    const dataSets = of.current.filter(({ feed }) => isDataSet(feed))
    const cache = join(dirname(snapshots), 'cache')
    const sets = { history, networkFiles, placeFiles, dataSets, cache }
    const compiled = await compileTable(
      { snapshots: [], read, asOf: day, ...sets },
      transaction,
      stages,
    )
    const { quarantined } = compiled.acceptance
    const problems = [
      ...compiled.problems,
      ...[...quarantined].map((one) => quarantineLine(...one)),
    ]
    for (const text of problems) tell({ kind: 'warn', text })
    removeStaleTempFiles(path)
    await stages.run('write', () => writeTable(path, compiled.assembled.content))
  } finally {
    await transaction.release()
  }
}

function outOfReach(store: string, first: number, day: Day): Error {
  return usageError(
    first === Infinity
      ? `There is no history in ${store}. Run this where tables are built, or name the history with --history (build.history in iprisk.json).`
      : `The history in ${store} has days from ${formatDay(first as Day)} to today; ` +
          `${formatDay(day)} is not one of them.`,
  )
}

function hashOf(facts: object, paths: readonly string[]): string {
  const files = paths.map((path) => {
    const { size, mtimeMs } = statSync(path)
    return [path, size, mtimeMs]
  })
  const text = JSON.stringify([packageVersion, facts, files])
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

function removeOldest(folder: string): void {
  const paths = namesIn(folder).map((name) => join(folder, name))
  const writtenMs = (path: string): number =>
    statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const newestFirst = paths.toSorted((a, b) => writtenMs(b) - writtenMs(a))
  for (const path of newestFirst.slice(pastTablesMax)) rmSync(path, { force: true })
}
