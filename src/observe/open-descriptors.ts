// Open file descriptors; every connection is one. Says how many a process may open, how many of
// them that leaves for connections, and how many another process has open. The primary asks the
// latter, so that no worker's loop has to. A system without /proc does not say.

import { readdir, stat } from 'node:fs/promises'
import { reservedDescriptors } from '../base/limits.ts'
import { readSystemFile } from '../base/system/process.ts'

/** The limit of this process and its children; Infinity where the system does not say. */
export function openFilesMax(): number {
  const found = /^Max open files +(\d+)/m.exec(readSystemFile('/proc/self/limits'))
  return found === null ? Infinity : Number(found[1])
}

/**
 * The cap of connections that a limit of open files leaves of the one that is asked for.
 * uWebSockets.js tries without end, and in vain, to accept a connection that needs a descriptor
 * above the limit.
 */
export function connectionsThatFit(asked: number, filesMax: number): number {
  const fitting = Math.max(Math.ceil(filesMax / 2), filesMax - reservedDescriptors)
  return Math.min(asked, fitting)
}

/** `undefined` where it has ended, or the system does not say. */
export async function openFilesOf(pid: number): Promise<number | undefined> {
  const folder = `/proc/${pid}/fd`
  try {
    // Linux 6.2 and later have counted them; before, ten thousand names are read.
    const { size } = await stat(folder)
    return size > 0 ? size : (await readdir(folder)).length
  } catch {
    return undefined
  }
}
