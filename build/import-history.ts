// Import of past days from `FOLDER/<feed-id>/YYYY-MM-DD.txt.gz` (or `.txt`): one address, prefix or
// range a line. The day is the one in the name, and the file is the whole of it: what the store had
// of that day is replaced, so that a corrected file corrects. What cannot be used is counted and
// named; it costs that line, that file or that feed, never the import.
//
// A day passes acceptance of feeds that a build's snapshots pass, each feed from its oldest file
// on: a day that shrank by half, grew threefold, lists what it never may or is full of canaries is
// quarantined, and what the store had of it stays. So does a file that unpacks to more than 64 MiB.
// The past that a day is measured by is what the store has from before the first file and the files
// before it, so that the same folder is judged the same each time; the builds' memory
// (build/acceptance/acceptance-ledger.ts) is neither read nor changed.

import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Day, dayOf, parseDay } from '../src/base/day.ts'
import { IpriskError, isDiskError, messageOf, inputError } from '../src/base/coded-error.ts'
import { parseRange } from '../src/ip/range.ts'
import { loadCanaries } from '../src/table/canaries.ts'
import { type Feed, whyInadmissible } from './catalogue/feed.ts'
import { type CanaryIndex, newCanaryIndex } from './acceptance/entry-canaries.ts'
import { judgeFeed } from './acceptance/feed-quarantine.ts'
import { type FeedMemory, storedSizes } from './acceptance/acceptance-ledger.ts'
import { pastSizesMax } from './acceptance/feed-size.ts'
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
  /** The day that counts as today; later days are refused. By default the clock's. */
  readonly today?: Day | undefined
  /** Days that acceptance holds back are imported all the same. */
  readonly force?: boolean | undefined
  readonly onFile?: ((file: ImportedFile) => void) | undefined
}

export type ImportedFile = Awaited<ReturnType<typeof importFile>>

/** Throws `history_folder` where the folder cannot be read, and what opening the store throws. */
export async function importHistory(folder: string, options: ImportOptions) {
  const feeds = new Map(options.feeds.map((feed) => [feed.id, feed]))
  const folders = await foldersIn(folder)
  const unknownFeeds = folders.filter((name) => !feeds.has(name))
  const outcome: ImportOutcome = { files: [], problems: [], bad: [], quarantined: [] }
  const index = newCanaryIndex(loadCanaries(), loadNetworkTables())
  // Each day is judged by itself and stays, so they go into the store at once; the transaction ends
  // what a killed build began, and keeps other runs away.
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
    /** Folders that are no feed of the catalogue. */
    unknownFeeds,
    dropCount: outcome.files.reduce((sum, file) => sum + file.dropCount, 0),
  }
}

interface ImportOutcome {
  readonly files: ImportedFile[]
  /** Files that were not used, `feed/file: why`. */
  readonly problems: string[]
  /** The first bad lines of each file, `feed/file:line 3: why: text`. */
  readonly bad: string[]
  /** Files that acceptance holds back, or would have without `force`, `feed/file: why; why`. */
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
    if (day === undefined) outcome.problems.push(`${where}: is not called YYYY-MM-DD.txt.gz`)
    else if (day > today) outcome.problems.push(`${where}: its day is yet to come`)
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
        // A disk that refuses one day refuses the next: half an import must not end well.
        if (isDiskError(thrown)) throw thrown
        if (thrown instanceof IpriskError && thrown.fault !== 'input') throw thrown
        outcome.problems.push(`${where}: ${messageOf(thrown)}`)
      }
    }
  }
}

/** What the store says of a feed's size before a day. */
async function memoryBefore(store: string, feed: Feed, day: Day): Promise<FeedMemory> {
  const days = (await storedDays(store, feed.id)).filter((one) => one < day).slice(-pastSizesMax)
  const sizes = (await storedSizes(store, new Map([[feed.id, days]]))).get(feed.id) ?? []
  return { sizes, moved: true, held: [] }
}

/** A day of the largest list has 5 MB; four million addresses of 16 characters have as many. */
const dayBytesMax = 67_108_864

/** Throws where the file cannot be read, holds too much, or has nothing in it. */
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
  // A feed that lists nothing is a broken feed; as a snapshot it would be evidence of absence.
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
    /** Lines that are no address, prefix or range, or that the feed may not list. */
    dropCount: tally.dropCount,
  }
}

function emptyText({ tally }: Pick<ParsedSnapshot, 'tally'>): string {
  return tally.dropCount === 0
    ? 'it is empty'
    : `none of its ${tally.dropCount} lines is sound (${tally.bad[0] ?? ''})`
}

function unusable(message: string): IpriskError {
  return inputError('history_file', message)
}

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
