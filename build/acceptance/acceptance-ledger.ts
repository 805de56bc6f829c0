// Acceptance's memory between builds, in `<history>/.gate/ledger.json`: each feed's sizes of the
// last snapshots that passed (`levels` in the file) and of those held back since, and the folder of
// its last good files. It is not evidence: without it, sizes come from the row counts of the
// history, and its newest day is the last good content.

import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Day } from '../../src/base/day.ts'
import { parseJson } from '../../src/base/json-object.ts'
import { replaceFile } from '../../src/base/system/atomic-file.ts'
import { plainName, writtenDay } from '../fetch/snapshot-record.ts'
import { dayPath, storedDays, storedFeeds } from '../history/history-days.ts'
import { withDuckDb } from '../history/duckdb.ts'
import { readDayMetadata } from '../history/day-file.ts'
import { type DatedSize, pastSizesMax } from './quarantine-by-size.ts'

/** `day` is the day of the fetch. */
const keptFile = z.object({
  path: plainName,
  sha256: z.string(),
  bytes: z.int().nonnegative(),
  day: writtenDay,
})

const dated = z.codec(
  z.object({ day: writtenDay, level: z.int().nonnegative() }),
  z.custom<DatedSize>(),
  {
    decode: ({ day, level }) => ({ day, size: level }),
    encode: ({ day, size }) => ({ day, level: size }),
  },
)

const writtenMemory = z.object({
  levels: z.array(dated),
  moved: z.boolean(),
  held: z.array(dated),
  good: z.object({ folder: plainName, files: z.array(keptFile) }).optional(),
})

const ledgerFile = z.object({
  version: z.literal(1),
  feeds: z.record(
    z.string(),
    z.codec(writtenMemory, z.custom<FeedMemory>(), {
      decode: ({ levels: sizes, good: lastGood, ...rest }) => ({ ...rest, sizes, lastGood }),
      encode: ({ sizes, moved, held, lastGood }) => ({
        levels: [...sizes],
        moved,
        held: [...held],
        good: lastGood && { ...lastGood, files: [...lastGood.files] },
      }),
    }),
  ),
})

export type KeptFile = Readonly<z.output<typeof keptFile>>

export interface FeedMemory {
  /** Sizes of the last snapshots that passed, by their own days, oldest first. */
  readonly sizes: readonly DatedSize[]
  /** A new size was accepted; older days of the history no longer count. */
  readonly moved: boolean
  /** Sizes held back since, by the days of their fetches. */
  readonly held: readonly DatedSize[]
  readonly lastGood?: { readonly folder: string; readonly files: readonly KeptFile[] } | undefined
}

export type AcceptanceLedger = ReadonlyMap<string, FeedMemory>

const ledgerName = 'ledger.json'

export const acceptanceFolder = (store: string): string => join(store, '.gate')

/** Empty if there is none or it is damaged; damage is reported as `problem`. */
export async function readAcceptanceLedger(
  store: string,
): Promise<{ readonly ledger: AcceptanceLedger; readonly problem?: string }> {
  const path = join(acceptanceFolder(store), ledgerName)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
    return { ledger: new Map() }
  }
  const { data } = ledgerFile.safeParse(parseJson(text))
  if (data !== undefined) return { ledger: new Map(Object.entries(data.feeds)) }
  return { ledger: new Map(), problem: `${path} is damaged; acceptance knows only the history` }
}

/** The caller holds the history's lock. */
export async function writeAcceptanceLedger(store: string, ledger: AcceptanceLedger) {
  const folder = acceptanceFolder(store)
  await mkdir(folder, { recursive: true })
  const feeds = Object.fromEntries([...ledger].sort(([a], [b]) => (a < b ? -1 : 1)))
  const text = JSON.stringify(z.encode(ledgerFile, { version: 1, feeds }), undefined, 1)
  await replaceFile(join(folder, ledgerName), `${text}\n`)
}

export async function historySizes(
  store: string,
): Promise<ReadonlyMap<string, readonly DatedSize[]>> {
  const days = new Map<string, readonly Day[]>()
  for (const feed of await storedFeeds(store)) {
    days.set(feed, (await storedDays(store, feed)).slice(-pastSizesMax))
  }
  return storedSizes(store, days)
}

/** Distinct ranges of these days in the history; unreadable days are skipped. */
export async function storedSizes(
  store: string,
  days: ReadonlyMap<string, readonly Day[]>,
): Promise<ReadonlyMap<string, readonly DatedSize[]>> {
  const paths = [...days].flatMap(([feed, own]) => own.map((day) => dayPath(store, feed, day)))
  if (paths.length === 0) return new Map()
  const metadata = await withDuckDb({ spill: store }, (duck) => readDayMetadata(duck, paths))
  const sizeOf = (feed: string, day: Day): DatedSize[] => {
    const { rowCount: size } = metadata.get(dayPath(store, feed, day)) ?? {}
    return size === undefined ? [] : [{ day, size }]
  }
  return new Map([...days].map(([feed, own]) => [feed, own.flatMap((day) => sizeOf(feed, day))]))
}

/** The history counts all that a day listed, the ledger what one fetch did, so the ledger wins. */
export function pastSizes(memory: FeedMemory | undefined, history: readonly DatedSize[]) {
  if (memory?.moved === true) return memory.sizes.slice(-pastSizesMax)
  const byDay = new Map<Day, number>()
  for (const { day, size } of [...history, ...(memory?.sizes ?? [])]) byDay.set(day, size)
  const sorted = [...byDay].sort(([a], [b]) => a - b)
  return sorted.slice(-pastSizesMax).map(([day, size]) => ({ day, size }))
}
