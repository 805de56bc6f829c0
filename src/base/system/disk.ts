// Files that are there whole or not at all: written under a temporary name in the same folder,
// flushed, renamed, and the folder flushed after them.

import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** A temporary name beside `path`'s file; every run removes what others left under such names. */
export function temporaryName(name: string): string {
  return `.${name}.${randomUUID()}.tmp`
}

/** Writes `text` as the file `name` of `folder`, all or nothing. */
export async function replaceFile(folder: string, name: string, text: string): Promise<void> {
  const temporary = join(folder, temporaryName(name))
  const handle = await open(temporary, 'wx')
  try {
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, join(folder, name))
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await flushFolder(folder)
}

/** Makes renames within `folder` survive a power cut. */
export async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The same for code that cannot wait. */
export function flushFolderSync(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Removes temporary files that a killed run left in `folder`. */
export async function removeTemporaryFiles(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  const left = names.filter((name) => name.startsWith('.') && name.endsWith('.tmp'))
  await Promise.all(left.map(async (name) => rm(join(folder, name), { force: true })))
}
