// A build adds its snapshots to the history before it knows whether its table will go live, because
// the table is made from the history. Where the table is rejected, or the build fails, what it added
// is taken back: it would be evidence that fades for weeks, of lists that nobody trusted.
//
// A build claims the history, its lock, from before it reads it until its table is judged, so that
// nobody else's days lie between what it added and what it takes back. Beforehand each day's file
// that may change gets a second name under `<history>/.gate/undo/`; the store replaces files by
// renaming, so that name keeps the old content. `marks.json` there is written last and says that
// additions may have begun: where the next claim finds it, a build was killed before its table was
// judged, and its additions are taken back then. It adds them anew if it still has their snapshots.
//
//   mark: links, marks.json │ additions │ judged ─▶ keep: marks.json goes, then the links
//                                             └─▶ takeBack: links go back, then marks.json goes

import { copyFile, link, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Day } from '../../src/base/day.ts'
import { flushFolder, removeTemporaryFiles, replaceFile } from '../../src/base/disk.ts'
import type { FolderLock } from '../fetch/fetch-lock.ts'
import { dayPath, dayFileName } from '../history/history-days.ts'
import { lockHistory } from '../history/history-store.ts'
import type { ParsedSnapshot } from '../evidence/read-snapshots.ts'
import { gateFolder } from './gate-ledger.ts'
import { filesByFeed } from './content-checks.ts'

export interface HistoryTransaction {
  /** `undefined`: the build has no history, and nothing here does anything. */
  readonly store: string | undefined
  readonly lock: FolderLock | undefined
  /** Called before these files are added to the history. */
  saveDays(files: readonly ParsedSnapshot[]): Promise<void>
  /** The additions stay. */
  commit(): Promise<void>
  /** The history is as it was at `mark`; nothing where `keep` was called, or `mark` was not. */
  rollback(): Promise<void>
  release(): Promise<void>
}

/** A day's file that may change, and whether there was one. */
interface SavedDay {
  readonly feed: string
  readonly day: Day
  readonly known: boolean
}

const marksName = 'marks.json'

/** Clears up after a killed run. Throws `history_locked` while another run writes the history. */
export async function beginHistoryTransaction(
  store: string | undefined,
): Promise<HistoryTransaction> {
  if (store === undefined) return noTransaction
  const lock = await lockHistory(store)
  try {
    await removeTemporaryFiles(gateFolder(store))
    await restoreDays(store)
  } catch (thrown) {
    await lock.release()
    throw thrown
  }
  return {
    store,
    lock,
    saveDays: async (files) => saveDays(store, files),
    // A lock that was lost to another run (this one was suspended) took the marks with it.
    async commit() {
      if (await lock.isHeld()) await removeSavedDays(store)
    },
    async rollback() {
      if (await lock.isHeld()) await restoreDays(store)
    },
    release: async () => lock.release(),
  }
}

const nothing = async (): Promise<void> => undefined

const noTransaction: HistoryTransaction = {
  store: undefined,
  lock: undefined,
  saveDays: nothing,
  commit: nothing,
  rollback: nothing,
  release: nothing,
}

function undoFolder(store: string): string {
  return join(gateFolder(store), 'undo')
}

async function saveDays(store: string, files: readonly ParsedSnapshot[]): Promise<void> {
  const folder = undoFolder(store)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const marks: SavedDay[] = []
  for (const [{ id: feed }, own] of filesByFeed(files)) {
    const day = Math.max(...own.map((file) => file.day)) as Day
    const known = await linked(dayPath(store, feed, day), savedPath(store, { feed, day }))
    marks.push({ feed, day, known })
  }
  await replaceFile(folder, marksName, `${JSON.stringify(marks)}\n`)
}

async function restoreDays(store: string): Promise<void> {
  for (const { feed, day, known } of await readMarks(store)) {
    const path = dayPath(store, feed, day)
    // What is missing went back before this was interrupted.
    if (known) await rename(savedPath(store, { feed, day }), path).catch(ignoreMissing)
    else await rm(path, { force: true })
    await flushFolder(dirname(path)).catch(ignoreMissing)
  }
  await removeSavedDays(store)
}

async function removeSavedDays(store: string): Promise<void> {
  const folder = undoFolder(store)
  await rm(join(folder, marksName), { force: true })
  await flushFolder(folder).catch(ignoreMissing)
  await rm(folder, { recursive: true, force: true })
}

/** None where nothing was begun: without `marks.json` the rest is of no use. */
async function readMarks(store: string): Promise<readonly SavedDay[]> {
  try {
    const text = await readFile(join(undoFolder(store), marksName), 'utf8')
    return JSON.parse(text) as readonly SavedDay[]
  } catch (thrown) {
    // It is replaced whole, so one that cannot be read was never ours; days are better kept.
    if (thrown instanceof SyntaxError) return []
    ignoreMissing(thrown)
    return []
  }
}

function savedPath(store: string, { feed, day }: Pick<SavedDay, 'feed' | 'day'>): string {
  return join(undoFolder(store), `${feed}.${dayFileName(day)}`)
}

/** Whether there was a file to link. */
async function linked(path: string, to: string): Promise<boolean> {
  try {
    // Not every file system has second names; a copy is as good and only slower.
    await link(path, to).catch(async () => copyFile(path, to))
    return true
  } catch (thrown) {
    ignoreMissing(thrown)
    return false
  }
}

function ignoreMissing(thrown: unknown): void {
  if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
}
