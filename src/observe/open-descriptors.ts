// Open file descriptors: how many a process may open, how many that leaves for connections, how
// many another process has open. The primary reads the latter, so that no worker's loop does.
// Requires /proc.

import { readdir, stat } from 'node:fs/promises'
import { reservedDescriptors } from '../base/limits.ts'
import { readSystemFile } from '../base/system/process.ts'

/** For this process and its children; Infinity if unknown. */
export function openFilesMax(): number {
  const found = /^Max open files +(\d+)/m.exec(readSystemFile('/proc/self/limits'))
  return found === null ? Infinity : Number(found[1])
}

/**
 * The cap of connections, limited by open files: uWebSockets.js tries forever to accept a
 * connection that needs a descriptor above the limit.
 */
export function connectionsThatFit(asked: number, filesMax: number): number {
  const fitting = Math.max(Math.ceil(filesMax / 2), filesMax - reservedDescriptors)
  return Math.min(asked, fitting)
}

/** `undefined` if it has ended, or if unknown. */
export async function openFilesOf(pid: number): Promise<number | undefined> {
  const folder = `/proc/${pid}/fd`
  try {
    // Linux 6.2 and later count them; before, ten thousand names are read.
    const { size } = await stat(folder)
    return size > 0 ? size : (await readdir(folder)).length
  } catch {
    return undefined
  }
}
