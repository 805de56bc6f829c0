// A feed's last good content: a copy of the last files that passed, under
// `<history>/.gate/<feed-id>.<id>/`, or else the newest day of the history, which has no AS facts.

import { constants } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { copyFile, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { formatDay } from '../../src/base/day.ts'
import { formatRange } from '../../src/ip/range.ts'
import { type BotCategory, botCategories } from '../../src/model/kind.ts'
import type { CatalogueFeed, Feed } from '../catalogue/feed.ts'
import { flushFolder } from '../../src/base/system/atomic-file.ts'
import { fileHasContent, hashOfFile } from '../fetch/snapshot-store.ts'
import { dayFiles } from '../history/history-days.ts'
import { withDuckDb } from '../history/duckdb.ts'
import { readDayRows } from '../history/day-file.ts'
import { newParseCounts } from '../parse/parse-counts.ts'
import {
  newestDay,
  type ParsedSnapshot,
  type SnapshotFile,
  parseSnapshot,
} from '../evidence/read-snapshots.ts'
import {
  type FeedMemory,
  type KeptFile,
  type AcceptanceLedger,
  acceptanceFolder,
} from './acceptance-ledger.ts'

type KeptCopy = NonNullable<FeedMemory['lastGood']>

/** Copies a feed's files, unless the kept ones are identical. */
export async function keepLastGood(
  store: string,
  files: readonly (Omit<SnapshotFile, 'feed'> & { readonly feed: CatalogueFeed })[],
  known: KeptCopy | undefined,
): Promise<KeptCopy | undefined> {
  const feed = files[0]?.feed
  if (feed === undefined) return known
  const described: KeptFile[] = []
  for (const { file, path, day } of files) {
    const [sha256, { size: bytes }] = [await hashOfFile(path), await stat(path)]
    described.push({ path: file.path, sha256, bytes, day })
  }
  if (known !== undefined && (await hasAll(store, known, described))) {
    return { folder: known.folder, files: described }
  }
  const folder = `${feed.id}.${randomUUID()}`
  const home = join(acceptanceFolder(store), folder)
  await mkdir(home, { recursive: true })
  for (const { file, path } of files) {
    await copyFile(path, join(home, file.path), constants.COPYFILE_FICLONE)
    const handle = await open(join(home, file.path), 'r+')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
  await flushFolder(home)
  return { folder, files: described }
}

async function hasAll(store: string, copy: KeptCopy, files: readonly KeptFile[]): Promise<boolean> {
  for (const file of files) {
    const kept = copy.files.find(({ path }) => path === file.path)
    if (kept?.sha256 !== file.sha256) return false
    if (!(await fileHasContent(join(acceptanceFolder(store), copy.folder, file.path), file)))
      return false
  }
  return copy.files.length === files.length
}

/** Removes copies that the ledger does not name: older ones, and those of a killed run. */
export async function removeOldCopies(store: string, ledger: AcceptanceLedger): Promise<void> {
  const used = new Set([...ledger.values()].map(({ lastGood }) => lastGood?.folder))
  const entries = await readdir(acceptanceFolder(store), { withFileTypes: true })
  for (const entry of entries) {
    if (!entry.isDirectory() || used.has(entry.name)) continue
    await rm(join(acceptanceFolder(store), entry.name), { recursive: true, force: true })
  }
}

export interface LastGood {
  readonly files: readonly ParsedSnapshot[]
  /** `its snapshot of 2026-08-21`. */
  readonly title: string
}

export async function readLastGood(
  store: string,
  feed: Feed,
  memory: FeedMemory | undefined,
): Promise<LastGood | undefined> {
  const copy = memory?.lastGood
  const kept = copy === undefined ? undefined : await readCopy(store, feed, copy)
  return kept ?? readNewestDay(store, feed)
}

async function readCopy(store: string, feed: Feed, copy: KeptCopy): Promise<LastGood | undefined> {
  const files: ParsedSnapshot[] = []
  for (const kept of copy.files) {
    const file = feed.files.find(({ path }) => path === kept.path)
    const path = join(acceptanceFolder(store), copy.folder, kept.path)
    if (file === undefined || !(await fileHasContent(path, kept))) return undefined
    const read = await parseSnapshot({ feed, file, path, day: kept.day })
    if (read.problem !== undefined) return undefined
    files.push(read)
  }
  if (files.length === 0) return undefined
  return { files, title: `its snapshot of ${formatDay(newestDay(files))}` }
}

/** The newest day of the history that can be read, up to `lastDay`. */
export async function readNewestDay(
  store: string,
  feed: Feed,
  lastDay = Infinity,
): Promise<LastGood | undefined> {
  const stored = (await dayFiles({ store }, feed.id)).filter(({ day }) => day <= lastDay)
  if (stored.length === 0) return undefined
  return withDuckDb({ spill: store }, async (duck) => {
    for (const { day, path } of stored.toReversed()) {
      const rows = await readDayRows(duck, path).catch(() => [])
      if (rows.length === 0) continue
      const place = `history of ${formatDay(day)}`
      const entries = rows.map(({ range, lists, provider, category }) => ({
        text: formatRange(range),
        place,
        ...(lists === undefined ? {} : { lists }),
        ...(provider === undefined ? {} : { provider }),
        ...(isCategory(category) ? { category } : {}),
      }))
      const tally = newParseCounts(`${feed.id}/${formatDay(day)}`)
      tally.entryCount = entries.length
      const file: ParsedSnapshot = { feed, tally, entries, day, problem: undefined }
      return { files: [file], title: `its ${place}` }
    }
    return undefined
  })
}

const isCategory = (text: string | undefined): text is BotCategory =>
  (botCategories as readonly (string | undefined)[]).includes(text)
