// A file lock by flock(2), which the kernel releases when the process ends; a leftover lock file
// means nothing. The lock belongs to the open file: the same process cannot lock twice, and
// children do not inherit it (O_CLOEXEC). Local file systems only. The file contains the holder's
// process id, for people.

import * as fs from 'node:fs'
import os from 'node:os'
import { dirname } from 'node:path'
import koffi from 'koffi'
import { environmentError } from '../coded-error.ts'
import { openOwnFile } from './own-files.ts'

const LOCK_SH = 1
const LOCK_EX = 2
const LOCK_NB = 4

const flock = koffi.load(null).func('int flock(int fd, int operation)')

export interface FileLock {
  /** Also removes the file. Idempotent. */
  readonly release: () => void
}

/**
 * Creates the file and its folder if missing; `undefined` if it is locked. Throws `file_unlockable`
 * if the file system has no locks, and the disk's errors.
 */
export function acquireFileLock(path: string): FileLock | undefined {
  fs.mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
  const descriptor = openOwnFile(path)
  let held = false
  try {
    if (!lockDescriptor(descriptor, { path, how: 'exclusive' })) return undefined
    // Its holder removed it meanwhile.
    if (!hasName(descriptor, path)) return acquireFileLock(path)
    fs.ftruncateSync(descriptor)
    fs.writeSync(descriptor, `${process.pid}\n`)
    held = true
  } finally {
    if (!held) fs.closeSync(descriptor)
  }
  return {
    release() {
      if (!held) return
      held = false
      try {
        // Remove before unlocking, and only while the name is still this file's.
        if (hasName(descriptor, path)) fs.rmSync(path)
      } catch {
        // Left for the next run.
      } finally {
        fs.closeSync(descriptor)
      }
    },
  }
}

/** Does not wait; closing `descriptor` unlocks. Shared locks exclude only an exclusive one. */
export function lockDescriptor(
  descriptor: number,
  { path, how }: { readonly path: string; readonly how: 'shared' | 'exclusive' },
): boolean {
  const operation = how === 'shared' ? LOCK_SH : LOCK_EX
  if (flock(descriptor, operation | LOCK_NB) === 0) return true
  const errno = koffi.errno()
  const known = os.constants.errno
  if (errno === known.EWOULDBLOCK) return false
  const name = Object.entries(known).find(([, value]) => value === errno)?.[0] ?? errno
  throw environmentError(
    'file_unlockable',
    `${path} cannot be locked (flock: ${name}). ` +
      'Its folder must be on a local file system that supports flock(2).',
  )
}

export function hasName(descriptor: number, path: string): boolean {
  const named = fs.statSync(path, { throwIfNoEntry: false })
  const { dev, ino } = fs.fstatSync(descriptor)
  return named?.ino === ino && named.dev === dev
}
