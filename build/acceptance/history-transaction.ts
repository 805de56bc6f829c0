// A build needs its snapshots in the history before it knows whether its table goes live. It writes
// them to a staging folder beside the store and reads both; if the table is rejected or the build
// dies, the store stays unchanged, and lists that failed acceptance are not evidence.
//
//   days ─▶ <store>/.staging ─ judged good ─▶ <store>/.accepted ─ file by file ─▶ <store>/<feed>
//
// Renaming the staging folder accepts all its days at once. After a kill, the next run removes a
// staging folder that was not renamed, or finishes the moves, which can be repeated. A build holds
// the history's lock from before it fetches until its table is judged.

import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { flushFolder, removeTemporaryFiles } from '../../src/base/system/atomic-file.ts'
import { type KeptFeed, dayFiles, dayPath, storedFeeds } from '../history/history-days.ts'
import { lockHistory, pruneHistory } from '../history/history-store.ts'
import { acceptanceFolder } from './acceptance-ledger.ts'

export type HistoryTransaction = Awaited<ReturnType<typeof beginHistoryTransaction>>

/**
 * Finishes what a killed run began. Throws `history_locked` while another run writes the history.
 */
export async function beginHistoryTransaction(store: string, feeds: readonly KeptFeed[] = []) {
  const lock = lockHistory(store)
  const staging = join(store, '.staging')
  const removeStaged = async (): Promise<void> => rm(staging, { recursive: true, force: true })
  try {
    await removeTemporaryFiles(acceptanceFolder(store))
    await moveAcceptedDays(store)
    await removeStaged()
  } catch (thrown) {
    lock.release()
    throw thrown
  }
  return {
    history: { store, staging, lock },
    async commit(): Promise<void> {
      await mkdir(staging, { recursive: true })
      await rename(staging, acceptedFolder(store))
      await flushFolder(store)
      await moveAcceptedDays(store)
      await pruneHistory(store, feeds)
    },
    async release(): Promise<void> {
      // If the disk fails, the next run removes them.
      await removeStaged().catch(() => undefined)
      lock.release()
    },
  }
}

const acceptedFolder = (store: string): string => join(store, '.accepted')

/** Repeatable. */
async function moveAcceptedDays(store: string): Promise<void> {
  const accepted = acceptedFolder(store)
  for (const feed of await storedFeeds(accepted)) {
    const home = join(store, feed)
    if ((await mkdir(home, { recursive: true })) !== undefined) await flushFolder(store)
    for (const { day, path } of await dayFiles({ store: accepted }, feed)) {
      await rename(path, dayPath(store, feed, day))
    }
    await flushFolder(home)
  }
  await rm(accepted, { recursive: true, force: true })
}
