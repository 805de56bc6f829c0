// A build adds its snapshots to the history before it knows whether its table will go live, because
// the table is made from the history. So it writes them beside the store, into a staging folder,
// and reads both together. A table that is rejected, a build that fails or is killed leaves the
// store as it was: otherwise lists that were not trusted would stay as evidence for weeks.
//
//   days ─▶ <store>/.staging ─ judged good ─▶ <store>/.accepted ─ file by file ─▶ <store>/<feed>
//
// The rename of the staging folder accepts all its days at once. The next run removes the staging
// folder of a run that was killed before that rename, and moves the days of one that was killed
// after it: each move is a rename within one file system, and the same day again changes nothing.
//
// A build holds the history's lock from before it fetches until its table is judged.

import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { flushFolder, removeTemporaryFiles } from '../../src/base/system/atomic-file.ts'
import { type KeptFeed, dayFiles, dayPath, storedFeeds } from '../history/history-days.ts'
import { lockHistory, pruneHistory } from '../history/history-store.ts'
import { acceptanceFolder } from './acceptance-ledger.ts'

export type HistoryTransaction = Awaited<ReturnType<typeof beginHistoryTransaction>>

/**
 * Ends what a killed run began. `feeds`: those that say how long their history is kept. Throws
 * `history_locked` while another run writes the history.
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
    /** Puts the staged days into the store, then prunes it. */
    async commit(): Promise<void> {
      await mkdir(staging, { recursive: true })
      await rename(staging, acceptedFolder(store))
      await flushFolder(store)
      await moveAcceptedDays(store)
      await pruneHistory(store, feeds)
    },
    /** Drops the days that were not committed, and frees the history. */
    async release(): Promise<void> {
      // What a failing disk keeps is removed by the next run.
      await removeStaged().catch(() => undefined)
      lock.release()
    },
  }
}

function acceptedFolder(store: string): string {
  return join(store, '.accepted')
}

/** Moves the accepted days into the store, as far as that is not done. */
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
