// What acceptance remembers from build to build, in `<history>/.gate/ledger.json`: of each feed the
// sizes of its last snapshots that passed (`levels` in the file) and of those held back since, and
// where its last good files are kept (last-good.ts). The file is replaced whole, so that a kill
// leaves the old memory or the new one.
//
// It is memory, not evidence: without it, or where it is damaged, the row counts of the history
// speak for the past, and its newest day is the last good content.

import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Day, formatDay, parseDay } from '../../src/base/day.ts'
import { isJsonObject, isWhole, type JsonObject, parseJson } from '../../src/base/json-object.ts'
import { replaceFile } from '../../src/base/system/atomic-file.ts'
import { dayPath, storedDays, storedFeeds } from '../history/history-days.ts'
import { openDuckDb } from '../history/duckdb.ts'
import { readDayMetadata } from '../history/day-file.ts'
import { type DatedSize, pastSizesMax } from './feed-size.ts'

export interface KeptFile {
  readonly path: string
  readonly sha256: string
  readonly bytes: number
  /** The day of the fetch. */
  readonly day: Day
}

export interface FeedMemory {
  /** Of the last snapshots that passed, by their own days, oldest first. */
  readonly sizes: readonly DatedSize[]
  /** A new size was accepted: the days of the history before it no longer count. */
  readonly moved: boolean
  /** Held back since, by the days of their fetches. */
  readonly held: readonly DatedSize[]
  readonly lastGood?: { readonly folder: string; readonly files: readonly KeptFile[] } | undefined
}

export type AcceptanceLedger = ReadonlyMap<string, FeedMemory>

const ledgerName = 'ledger.json'

export function acceptanceFolder(store: string): string {
  return join(store, '.gate')
}

/** An empty one where there is none or it cannot be trusted; the second is said. */
export async function readAcceptanceLedger(
  store: string,
): Promise<{ readonly ledger: AcceptanceLedger; readonly problem: string | undefined }> {
  const path = join(acceptanceFolder(store), ledgerName)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
    return { ledger: new Map(), problem: undefined }
  }
  const ledger = parseLedger(text)
  return ledger === undefined
    ? { ledger: new Map(), problem: `${path} is damaged; acceptance knows only the history` }
    : { ledger, problem: undefined }
}

/** The caller holds the lock of the history. */
export async function writeAcceptanceLedger(
  store: string,
  ledger: AcceptanceLedger,
): Promise<void> {
  const folder = acceptanceFolder(store)
  await mkdir(folder, { recursive: true })
  const dated = (held: DatedSize): object => ({ day: formatDay(held.day), level: held.size })
  const feeds = [...ledger].sort(([a], [b]) => (a < b ? -1 : 1))
  const written = feeds.map(([id, { sizes, moved, held, lastGood }]) => {
    const files = lastGood?.files.map((file) => ({ ...file, day: formatDay(file.day) }))
    const good = lastGood && { folder: lastGood.folder, files }
    return [id, { levels: sizes.map(dated), moved, held: held.map(dated), good }]
  })
  const text = JSON.stringify({ version: 1, feeds: Object.fromEntries(written) }, undefined, 1)
  await replaceFile(join(folder, ledgerName), `${text}\n`)
}

/** Distinct ranges of the newest days of each feed in the history. */
export async function historySizes(
  store: string,
): Promise<ReadonlyMap<string, readonly DatedSize[]>> {
  const days = new Map<string, readonly Day[]>()
  for (const feed of await storedFeeds(store)) {
    days.set(feed, (await storedDays(store, feed)).slice(-pastSizesMax))
  }
  return storedSizes(store, days)
}

/** Distinct ranges of these days in the history; a day that cannot be read is left out. */
export async function storedSizes(
  store: string,
  days: ReadonlyMap<string, readonly Day[]>,
): Promise<ReadonlyMap<string, readonly DatedSize[]>> {
  const sizes = new Map<string, readonly DatedSize[]>()
  if ([...days.values()].every((own) => own.length === 0)) return sizes
  const duck = await openDuckDb({ spill: store })
  try {
    const paths = [...days].flatMap(([feed, own]) => own.map((day) => dayPath(store, feed, day)))
    const said = await readDayMetadata(duck, paths)
    for (const [feed, own] of days) {
      const known = own.flatMap((day): DatedSize[] => {
        const statement = said.get(dayPath(store, feed, day))
        return statement === undefined ? [] : [{ day, size: statement.rowCount }]
      })
      sizes.set(feed, known)
    }
  } finally {
    await duck.close()
  }
  return sizes
}

/**
 * The last sizes of a feed. The history counts what was listed at any time of a day, the ledger
 * what one fetch listed: where both know a day the ledger is the fairer measure.
 */
export function pastSizes(
  memory: FeedMemory | undefined,
  history: readonly DatedSize[],
): readonly DatedSize[] {
  if (memory?.moved === true) return memory.sizes.slice(-pastSizesMax)
  const byDay = new Map<Day, number>()
  for (const { day, size } of [...history, ...(memory?.sizes ?? [])]) byDay.set(day, size)
  const sorted = [...byDay].sort(([a], [b]) => a - b)
  return sorted.slice(-pastSizesMax).map(([day, size]) => ({ day, size }))
}

/** The inverse of what `writeAcceptanceLedger` writes; `undefined` for anything else. */
function parseLedger(text: string): AcceptanceLedger | undefined {
  const root = parseJson(text)
  if (!isJsonObject(root) || root['version'] !== 1 || !isJsonObject(root['feeds'])) return undefined
  const ledger = new Map<string, FeedMemory>()
  for (const [id, value] of Object.entries(root['feeds'])) {
    const memory = isJsonObject(value) ? parseMemory(value) : undefined
    if (memory === undefined) return undefined
    ledger.set(id, memory)
  }
  return ledger
}

function parseMemory(value: JsonObject): FeedMemory | undefined {
  const sizes = parseAll(value['levels'], parseSize)
  const held = parseAll(value['held'], parseSize)
  const { moved, good } = value
  if (sizes === undefined || held === undefined || typeof moved !== 'boolean') return undefined
  if (good === undefined) return { sizes, held, moved }
  const folder = isJsonObject(good) ? good['folder'] : undefined
  const files = isJsonObject(good) ? parseAll(good['files'], parseFile) : undefined
  if (!isPlainName(folder) || files === undefined) return undefined
  return { sizes, held, moved, lastGood: { folder, files } }
}

function parseSize(value: JsonObject): DatedSize | undefined {
  const day = dayIn(value)
  const { level } = value
  return day === undefined || !isWhole(level) ? undefined : { day, size: level }
}

function parseFile(value: JsonObject): KeptFile | undefined {
  const day = dayIn(value)
  const { path, sha256, bytes } = value
  if (day === undefined || !isPlainName(path) || !isWhole(bytes)) return undefined
  return typeof sha256 === 'string' ? { path, sha256, bytes, day } : undefined
}

function parseAll<T>(
  value: unknown,
  parse: (each: JsonObject) => T | undefined,
): readonly T[] | undefined {
  if (!Array.isArray(value)) return undefined
  const parsed = value.flatMap((each: unknown) => (isJsonObject(each) ? (parse(each) ?? []) : []))
  return parsed.length === value.length ? parsed : undefined
}

function dayIn({ day }: JsonObject): Day | undefined {
  return typeof day === 'string' ? parseDay(day) : undefined
}

/** A name that stays in its folder. */
function isPlainName(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(value)
}
