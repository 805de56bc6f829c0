// What is measured: the snapshots of a mirror folder or of the snapshot store, read into entries,
// and a store of the history. A mirror folder may hold `history/<feed>/<day>.txt.gz`; that is
// imported into a store of its own, which `close` removes. Nothing is fetched, nothing of the
// operator's is written.

import { existsSync } from 'node:fs'
import { mkdtemp, readFile as readBytes, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Day, dayOf, formatDay, parseDay } from '../../../src/base/day.ts'
import { crawlersFile } from '../../../build/evidence/builtin-feeds.ts'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { parseMirrorDays } from '../../../build/fetch/mirror.ts'
import { obtainSnapshots } from '../../../build/fetch/obtain-snapshots.ts'
import { importHistory } from '../../../build/import-history.ts'
import { type NetworkTables, loadNetworkTables } from '../../../build/networks/network-tables.ts'
import {
  type ParsedSnapshot,
  type SnapshotFile,
  medianDay,
  parseSnapshot,
  snapshotsOf,
} from '../../../build/evidence/read-snapshots.ts'
import { usageError } from '../../../src/base/coded-error.ts'

export interface MeasuredInputOptions {
  readonly feeds: readonly Feed[]
  /** A folder `<feed-id>/<file>` with `feeds.json`. */
  readonly mirror: string | undefined
  /** The snapshot store, where there is no mirror. */
  readonly snapshots: string
  /** The store of the history; by default the mirror's, else none. */
  readonly history: string | undefined
  /**
   * The day that counts as today: later snapshots are left out. By default the median day of the
   * snapshots, and all of them.
   */
  readonly asOf: Day | undefined
}

export interface MeasuredInput {
  readonly tables: NetworkTables
  /** The crawlers' table first, then every snapshot that could be read. */
  readonly files: readonly ParsedSnapshot[]
  readonly asOf: Day
  /** The store of the history; `undefined` where there is none. */
  readonly history: string | undefined
  /** Files and days that could not be used, one line each. */
  readonly problems: readonly string[]
  readonly close: () => Promise<void>
}

/** The flags that name an input, for `readFlags`. */
export const inputTexts = ['mirror', 'snapshots', 'history', 'as-of', 'catalogue'] as const

/** The input that the flags name, or that of an operator's own folder. Throws `usage`. */
export function openNamedInput(
  flags: { readonly [K in (typeof inputTexts)[number]]?: string | undefined },
  feeds: readonly Feed[],
): Promise<MeasuredInput> {
  const { mirror, snapshots = join('data', 'snapshots') } = flags
  if (mirror !== undefined && !existsSync(mirror)) throw usageError(`There is no folder ${mirror}.`)
  const own = join('data', 'history')
  const history = flags.history ?? (mirror === undefined && existsSync(own) ? own : undefined)
  const day = flags['as-of']
  const asOf = day === undefined ? undefined : parseDay(day)
  if (day !== undefined && asOf === undefined) {
    throw usageError('--as-of takes a day, YYYY-MM-DD.')
  }
  return openMeasuredInput({ feeds, mirror, snapshots, history, asOf })
}

/** Throws `usage` where there is no snapshot at all. */
export async function openMeasuredInput(options: MeasuredInputOptions): Promise<MeasuredInput> {
  const snapshots = await snapshotFiles(options)
  const tables = loadNetworkTables()
  const read: ParsedSnapshot[] = []
  for (const snapshot of snapshots) read.push(await parseSnapshot(snapshot))
  // A build counts them as of its day; what measures a past day must not know of later ones.
  const later = read.filter(({ day }) => day > (options.asOf ?? Infinity))
  const files = [crawlersFile(tables), ...read.filter((file) => !later.includes(file))]
  const asOf = options.asOf ?? medianDay(files)
  if (asOf === undefined) {
    throw usageError(
      `There is no snapshot in ${options.mirror ?? options.snapshots}: fetch the feeds with ` +
        '"npx iprisk feeds fetch", or name a folder with --mirror.',
    )
  }
  const problems = files.flatMap(({ feed, problem }) =>
    problem === undefined ? [] : [`${feed.id}: ${problem}`],
  )
  for (const { feed, day } of later) {
    problems.push(`${feed.id}: left out, its snapshot is of ${formatDay(day)}`)
  }
  const past = await openMirrorHistory(options, asOf)
  return {
    tables,
    files: files.filter(({ problem }) => problem === undefined),
    asOf,
    history: past.store,
    problems: [...problems, ...past.problems],
    close: past.close,
  }
}

async function snapshotFiles(options: MeasuredInputOptions): Promise<readonly SnapshotFile[]> {
  const { feeds, mirror, snapshots } = options
  const today = dayOf(Date.now())
  if (mirror === undefined) {
    const obtained = await obtainSnapshots({
      feeds,
      mode: { kind: 'offline' },
      folder: snapshots,
      today,
    })
    return snapshotsOf(obtained)
  }
  const index = join(mirror, 'feeds.json')
  const days = existsSync(index)
    ? parseMirrorDays(await readBytes(index, 'utf8'), today)
    : undefined
  return feeds.flatMap((feed) =>
    feed.files
      .filter((file) => file.role === 'use')
      .map((file) => ({
        feed,
        file,
        path: join(mirror, feed.id, file.path),
        day: days?.get(feed.id) ?? today,
      }))
      .filter(({ path }) => existsSync(path)),
  )
}

async function openMirrorHistory(
  { feeds, mirror, history }: MeasuredInputOptions,
  asOf: Day,
): Promise<{
  readonly store: string | undefined
  readonly problems: readonly string[]
  readonly close: () => Promise<void>
}> {
  const folder = mirror === undefined ? undefined : join(mirror, 'history')
  if (history !== undefined || folder === undefined || !existsSync(folder)) {
    return { store: history, problems: [], close: () => Promise.resolve() }
  }
  const store = await mkdtemp(join(tmpdir(), 'iprisk-measure-'))
  const close = (): Promise<void> => rm(store, { recursive: true, force: true })
  try {
    const { problems } = await importHistory(folder, { store, feeds, today: asOf })
    return { store, problems, close }
  } catch (thrown) {
    await close()
    throw thrown
  }
}
