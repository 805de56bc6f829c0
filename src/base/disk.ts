// Files that are there whole or not at all: written under a temporary name in the same folder,
// flushed, renamed, and the folder flushed after them. Also how a file is told by its content.

import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
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
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, join(folder, name))
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

/** Whether the file is there with just this content. The size is asked first, as it is cheap. */
export async function holds(
  path: string,
  content: { readonly sha256: string; readonly bytes: number },
): Promise<boolean> {
  try {
    const found = await stat(path)
    if (!found.isFile() || found.size !== content.bytes) return false
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array)
    return hash.digest('hex') === content.sha256
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw thrown
  }
}

/** Removes temporary files that a killed run left in `folder`. */
export async function removeTemporary(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  const left = names.filter((name) => name.startsWith('.') && name.endsWith('.tmp'))
  await Promise.all(left.map(async (name) => rm(join(folder, name), { force: true })))
}
