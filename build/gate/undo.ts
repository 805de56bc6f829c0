// A build adds its snapshots to the history before it knows whether its table will go live, because
// the table is made from the history. Where the table is rejected, what it added is taken back: it
// would be evidence that fades for weeks, of lists that nobody trusted.
//
// Beforehand each day's file that may change gets a second name under `<history>/.gate/undo/`; the
// store replaces files by renaming, so that name keeps the old content.

import { copyFile, link, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Day } from '../../src/base/day.ts'
import { flushFolder } from '../fetch/disk.ts'
import { dayPath, fileName } from '../history/days.ts'
import type { ReadFile } from '../read.ts'
import { gateFolder } from './ledger.ts'
import { byFeed } from './screen.ts'

/** Gives what takes the additions back. Called before these files are added to the history. */
export async function markHistory(
  store: string,
  files: readonly ReadFile[],
): Promise<() => Promise<void>> {
  const folder = join(gateFolder(store), 'undo')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const marks: { readonly path: string; readonly saved: string | undefined }[] = []
  for (const [feed, own] of byFeed(files)) {
    const day = Math.max(...own.map((file) => file.day)) as Day
    const path = dayPath(store, feed.id, day)
    const saved = join(folder, `${feed.id}.${fileName(day)}`)
    marks.push({ path, saved: (await linked(path, saved)) ? saved : undefined })
  }
  return async () => {
    for (const { path, saved } of marks) {
      if (saved === undefined) await rm(path, { force: true })
      else await rename(saved, path)
      await flushFolder(dirname(path)).catch(ignoreMissing)
    }
    await rm(folder, { recursive: true, force: true })
  }
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
