// Imports past days from `FOLDER/<feed-id>/YYYY-MM-DD.txt.gz` (or `.txt`), one address, prefix or
// range per line. A file replaces the store's day. Bad lines, files or feeds are counted and named;
// they never fail the import.
//
// A day passes the acceptance that snapshots of a build pass, each feed from its oldest file on; a
// quarantined day leaves the store's day in place. A day is compared with the store's days before
// the first file and with the files before it, so the same folder is always judged the same; the
// builds' memory (acceptance-ledger.ts) is not used.

import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Day, dayOf, parseDay } from '../src/base/day.ts'
import { IpriskError, isDiskError, messageOf, inputError } from '../src/base/coded-error.ts'
import { parseRange } from '../src/ip/range.ts'
import { loadCanaries } from '../src/table/canaries.ts'
import { type Feed, whyInadmissible } from './catalogue/feed.ts'
import { type CanaryIndex, newCanaryIndex } from './acceptance/entry-canaries.ts'
import { judgeFeed } from './acceptance/accept-feeds.ts'
import { type FeedMemory, storedSizes } from './acceptance/acceptance-ledger.ts'
import { pastSizesMax } from './acceptance/quarantine-by-size.ts'
import { beginHistoryTransaction } from './acceptance/history-transaction.ts'
import { loadNetworkTables } from './networks/network-tables.ts'
import { countDrop } from './parse/parse-counts.ts'
import { type ParsedSnapshot, parseSnapshot } from './evidence/read-snapshots.ts'
import type { ListedRange } from './history/day-content.ts'
import { storedDays } from './history/history-days.ts'
import { type HistoryStore, openHistoryStore } from './history/history-store.ts'

interface ImportOptions {
  readonly store: string
  readonly feeds: readonly Feed[]
  /** Counts as today; later days are refused. By default the clock's. */
  readonly today?: Day | undefined
  /** Import days that acceptance holds back. */
  readonly force?: boolean | undefined
  readonly onFile?: ((file: ImportedFile) => void) | undefined
}

export type ImportedFile = Awaited<ReturnType<typeof importFile>>

/** Throws `history_folder` if the folder cannot be read, and the errors of opening the store. */
export async function importHistory(folder: string, options: ImportOptions) {
  const feeds = new Map(options.feeds.map((feed) => [feed.id, feed]))
  const folders = await foldersIn(folder)
  const unknownFeeds = folders.filter((name) => !feeds.has(name))
  const outcome: ImportOutcome = { files: [], problems: [], bad: [], quarantined: [] }
  const index = newCanaryIndex(loadCanaries(), loadNetworkTables())
  // Each day is judged alone and goes straight into the store; the transaction finishes what a
  // killed build began and keeps other runs away.
  const transaction = await beginHistoryTransaction(options.store)
  try {
    const { lock } = transaction.history
    const store = await openHistoryStore({ store: options.store, lock })
    try {
      for (const name of folders) {
        const feed = feeds.get(name)
        if (feed === undefined) continue
        const names = (await readdir(join(folder, name))).sort()
        await importFeed(store, { feed, folder, names, index }, options, outcome)
      }
    } finally {
      await store.close()
    }
  } finally {
    await transaction.release()
  }
  return {
    ...outcome,
    /** Folders that are not feeds of the catalogue. */
    unknownFeeds,
    dropCount: outcome.files.reduce((sum, file) => sum + file.dropCount, 0),
  }
}

interface ImportOutcome {
  readonly files: ImportedFile[]
  /** Unused files, `feed/file: why`. */
  readonly problems: string[]
  /** The first bad lines of each file, `feed/file:line 3: why: text`. */
  readonly bad: string[]
  /** Files held back, or imported by `force`, `feed/file: why; why`. */
  readonly quarantined: string[]
}

async function importFeed(
  store: HistoryStore,
  of: {
    readonly feed: Feed
    readonly folder: string
    readonly names: readonly string[]
    readonly index: CanaryIndex
  },
  options: ImportOptions,
  outcome: ImportOutcome,
): Promise<void> {
  const { feed, folder, names, index } = of
  const today = options.today ?? dayOf(Date.now())
  let memory: FeedMemory | undefined
  for (const name of names) {
    const day = parseDay(/^(.+)\.txt(?:\.gz)?$/.exec(name)?.[1] ?? '')
    const where = `${feed.id}/${name}`
    if (day === undefined) outcome.problems.push(`${where}: is not named YYYY-MM-DD.txt.gz`)
    else if (day > today) outcome.problems.push(`${where}: its day is in the future`)
    else {
      try {
        memory ??= await memoryBefore(options.store, feed, day)
        const read = await readListed({ feed, path: join(folder, where), day })
        const ledger = new Map([[feed.id, memory]])
        const past = { ledger, history: new Map(), problems: [] }
        const judged = judgeFeed({ files: [read], day, index, past })
        memory = judged.memory
        const { reasons } = judged
        if (reasons.length > 0) outcome.quarantined.push(`${where}: ${reasons.join('; ')}`)
        if (reasons.length > 0 && options.force !== true) continue
        const imported = await importFile(store, judged.files[0] ?? read)
        outcome.files.push(imported)
        outcome.bad.push(...read.tally.bad)
        options.onFile?.(imported)
      } catch (thrown) {
        // A disk error would repeat for the next day: fail the import.
        if (isDiskError(thrown)) throw thrown
        if (thrown instanceof IpriskError && thrown.fault !== 'input') throw thrown
        outcome.problems.push(`${where}: ${messageOf(thrown)}`)
      }
    }
  }
}

async function memoryBefore(store: string, feed: Feed, day: Day): Promise<FeedMemory> {
  const days = (await storedDays(store, feed.id)).filter((one) => one < day).slice(-pastSizesMax)
  const sizes = (await storedSizes(store, new Map([[feed.id, days]]))).get(feed.id) ?? []
  return { sizes, moved: true, held: [] }
}

/** A day of the largest list has 5 MB; this holds four million addresses of 16 characters. */
const dayBytesMax = 67_108_864

/** Throws if the file cannot be read, is too large or has no entries. */
async function readListed(of: {
  readonly feed: Feed
  readonly path: string
  readonly day: Day
}): Promise<ParsedSnapshot> {
  const { feed, path, day } = of
  const bytes = { min: 1, max: dayBytesMax }
  const file = { path: basename(path), role: 'use', url: '', format: 'list', bytes } as const
  const read = await parseSnapshot({ feed, file, path, day })
  if (read.problem !== undefined) throw unusable(read.problem)
  // A feed that lists nothing is broken; stored, it would be evidence of absence.
  if (read.entries.length === 0) throw unusable(emptyText(read))
  return read
}

async function importFile(store: HistoryStore, file: ParsedSnapshot) {
  const { feed, day, tally, entries } = file
  const listed: ListedRange[] = []
  for (const { text, place } of entries) {
    const range = parseRange(text)
    const why =
      range === undefined ? 'not an address, prefix or range' : whyInadmissible(feed, range)
    if (range === undefined || why !== undefined) {
      countDrop(tally, { reason: why ?? '', place, sample: text })
    } else listed.push({ range })
  }
  if (listed.length === 0) throw unusable(emptyText(file))
  const { state, rowCount } = await store.setDay({ feed: feed.id, day, listed })
  return {
    feed: feed.id,
    day,
    state,
    rowCount,
    /** Lines that are not an address, prefix or range, or that the feed may not list. */
    dropCount: tally.dropCount,
  }
}

function emptyText({ tally }: Pick<ParsedSnapshot, 'tally'>): string {
  return tally.dropCount === 0
    ? 'it is empty'
    : `none of its ${tally.dropCount} lines is valid (${tally.bad[0] ?? ''})`
}

const unusable = (message: string): IpriskError => inputError('history_file', message)

async function foldersIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => entry.name)
      .sort()
  } catch (cause) {
    throw new IpriskError({
      code: 'history_folder',
      message:
        `${folder} cannot be read (${messageOf(cause)}). It should be a folder of ` +
        '<feed-id>/YYYY-MM-DD.txt.gz.',
      fault: 'usage',
      cause,
    })
  }
}
