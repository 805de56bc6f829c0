// A folder of published tables, for a static web server or a shared file system.

import { statSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { IpriskError } from '../../base/coded-error.ts'
import { readBoundedFile } from '../../base/system/bounded-file.ts'
import { flushFolder, removeTemporaryFiles, temporaryName } from '../../base/system/atomic-file.ts'
import type { ListedObject } from '../fetch/object-store.ts'
import type { PublishPlace } from './publish-place.ts'

/** Another user may serve the folder. */
const fileMode = 0o644

export function openFolderPlace(folder: string): PublishPlace {
  if (!mayBeFolder(folder)) {
    const message = `${folder} cannot be a folder: it, or a folder above it, is a file or a looping link.`
    throw new IpriskError({ code: 'publish_invalid', message, fault: 'usage' })
  }
  const put = async (name: string, bytes: Uint8Array): Promise<void> => {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    const temporary = join(dirname(path), temporaryName(basename(path)))
    try {
      const handle = await open(temporary, 'wx', fileMode)
      try {
        await handle.writeFile(bytes)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }
  return {
    name: folder,
    read: async (name, bytesMax) => {
      const path = join(folder, name)
      if ((await statOrNone(path)) === undefined) return undefined
      return readBoundedFile(path, { bytesMax }).bytes
    },
    keep: put,
    replace: async (name, bytes) => {
      const of = dirname(join(folder, name))
      await mkdir(of, { recursive: true })
      // The new content's parts were renamed before: flushed, they survive a power cut.
      await removeTemporaryFiles(of)
      const parts = join(folder, 'parts')
      if ((await statOrNone(parts)) !== undefined) await flushFolder(parts)
      await put(name, bytes)
      await flushFolder(of)
    },
    list: async (under) => {
      const names = await readdir(join(folder, under)).catch(whereAbsent<string[]>([]))
      const found = await Promise.all(
        names.map(async (name): Promise<ListedObject | undefined> => {
          const seen = await statOrNone(join(folder, under, name))
          if (seen?.isFile() !== true) return undefined
          return { name: `${under}/${name}`, bytes: seen.size, writtenMs: seen.mtimeMs }
        }),
      )
      return found.filter((each) => each !== undefined)
    },
    remove: (name) => rm(join(folder, name), { force: true }),
  }
}

/** Checked before a table is compiled; other faults show at the first write. */
function mayBeFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() !== false
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return code !== 'ENOTDIR' && code !== 'ELOOP'
  }
}

const whereAbsent =
  <T>(none: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return none
    throw error
  }

const statOrNone = (path: string) => stat(path).catch(whereAbsent(undefined))
