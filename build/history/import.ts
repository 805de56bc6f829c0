// Import of past days from `FOLDER/<feed-id>/YYYY-MM-DD.txt.gz` (or `.txt`): one address, prefix or
// range a line. The day is the one in the name, and the file is the whole of it: what the store had
// of that day is replaced, so that a corrected file corrects. What cannot be used is counted and
// named; it costs that line, that file or that feed, never the import.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Day, dayOf, parseDay } from '../../src/base/day.ts'
import { IpriskError, messageOf } from '../../src/base/error.ts'
import { parseRange } from '../../src/ip/range.ts'
import type { Feed } from '../catalogue/feed.ts'
import { readSnapshot } from '../parse/read.ts'
import { type Tally, countDrop, newTally, tallySink } from '../parse/tally.ts'
import type { Listed } from './content.ts'
import { refuse } from './sound.ts'
import { type HistoryStore, openStore } from './store.ts'

export interface ImportOptions {
  readonly store: string
  readonly feeds: readonly Feed[]
  /** The day that counts as today; later days are refused. By default the clock's. */
  readonly today?: Day | undefined
  readonly onFile?: ((file: ImportedFile) => void) | undefined
}

export interface ImportedFile {
  readonly feed: string
  readonly day: Day
  readonly state: 'written' | 'unchanged'
  /** Distinct ranges of the day. */
  readonly rowCount: number
  /** Lines that are no address, prefix or range, or that the feed may not list. */
  readonly dropCount: number
}

export interface ImportReport {
  readonly files: readonly ImportedFile[]
  /** Folders that are no feed of the catalogue. */
  readonly unknownFeeds: readonly string[]
  /** Files that were not used, `feed/file: why`. */
  readonly problems: readonly string[]
  /** The first bad lines of each file, `feed/file:line 3: why: text`. */
  readonly bad: readonly string[]
  readonly dropCount: number
}

/** Throws `history_folder` where the folder cannot be read, and what opening the store throws. */
export async function importFolder(folder: string, options: ImportOptions): Promise<ImportReport> {
  const feeds = new Map(options.feeds.map((feed) => [feed.id, feed]))
  const folders = await foldersIn(folder)
  const unknownFeeds = folders.filter((name) => !feeds.has(name))
  const files: ImportedFile[] = []
  const problems: string[] = []
  const bad: string[] = []
  const today = options.today ?? dayOf(Date.now())
  const store = await openStore({ store: options.store })
  try {
    for (const name of folders) {
      const feed = feeds.get(name)
      if (feed === undefined) continue
      for (const file of (await readdir(join(folder, name))).sort()) {
        const day = dayOfName(file)
        const where = `${name}/${file}`
        if (day === undefined) problems.push(`${where}: is not called YYYY-MM-DD.txt.gz`)
        else if (day > today) problems.push(`${where}: its day is yet to come`)
        else {
          try {
            const tally = newTally(where)
            const imported = await importFile(store, {
              feed,
              day,
              path: join(folder, where),
              tally,
            })
            files.push(imported)
            bad.push(...tally.bad)
            options.onFile?.(imported)
          } catch (thrown) {
            if (thrown instanceof IpriskError && thrown.fault === 'bug') throw thrown
            problems.push(`${where}: ${messageOf(thrown)}`)
          }
        }
      }
    }
  } finally {
    await store.close()
  }
  const dropCount = files.reduce((sum, file) => sum + file.dropCount, 0)
  return { files, unknownFeeds, problems, bad, dropCount }
}

async function importFile(
  store: HistoryStore,
  file: {
    readonly feed: Feed
    readonly day: Day
    readonly path: string
    readonly tally: Tally
  },
): Promise<ImportedFile> {
  const { feed, day, path, tally } = file
  const listed: Listed[] = []
  const sink = tallySink(tally, ({ text, place }) => {
    const range = parseRange(text)
    const why = range === undefined ? 'not an address, prefix or range' : refuse(feed, range)
    if (range === undefined || why !== undefined) {
      countDrop(tally, { reason: why ?? '', place, sample: text })
    } else listed.push({ range })
  })
  await readSnapshot({ path, format: 'list' }, sink)
  // A feed that lists nothing is a broken feed; as a snapshot it would be evidence of absence.
  if (listed.length === 0) throw emptyFile(tally)
  const { state, rowCount } = await store.setDay({ feed: feed.id, day, listed })
  return { feed: feed.id, day, state, rowCount, dropCount: tally.dropCount }
}

function emptyFile(tally: Tally): IpriskError {
  const lines = tally.dropCount === 0 ? 'it is empty' : `none of its ${tally.dropCount} lines is`
  return new IpriskError({
    code: 'history_file_empty',
    message: `${lines}${tally.dropCount === 0 ? '' : ` sound (${tally.bad[0] ?? ''})`}`,
    fault: 'input',
  })
}

function dayOfName(name: string): Day | undefined {
  const text = /^(.+)\.txt(?:\.gz)?$/.exec(name)?.[1]
  return text === undefined ? undefined : parseDay(text)
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
