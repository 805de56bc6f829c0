// Copies a large file that processes will map (memory-map.ts).

import { closeSync, constants, copyFileSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../coded-error.ts'
import { offsetInPage, pageBytes } from './memory-map.ts'

/** A multiple of large pages' 2 MB. */
const pieceBytes = 2 ** 23

/**
 * Copies `source` over `target` for mapping, sharing blocks if the file system can. Otherwise it
 * writes large pieces, which the system maps in pages of 2 MB; Node's `copyFile` made 4 kB pages
 * and took 77 to 129 ms for 190 MB instead of 48 (ext4 flushes at the close). Throws the system's
 * error, naming the full folder; leaves what was written.
 */
export function copyLargeFile(source: string, target: string): void {
  const steps = copyLargeFileInSteps(source, target)
  while (steps.next().done !== true);
}

/** In steps of a few milliseconds. Copies at most `bytesMax`. */
export function* copyLargeFileInSteps(source: string, target: string, bytesMax = Infinity) {
  try {
    copyFileSync(source, target, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL)
  } catch {
    // Different file systems, or no cloning. Other errors repeat.
    yield* copyInPieces(source, target, bytesMax)
  }
}

const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants
const targetFlags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW

function* copyInPieces(source: string, target: string, bytesMax: number) {
  const from = openSync(source, 'r')
  try {
    const to = openSync(target, targetFlags, 0o600)
    try {
      const piece = newFileBuffer(pieceBytes)
      for (let left = bytesMax, length = 1; length > 0; left -= length) {
        length = readSync(from, piece, 0, Math.min(pieceBytes, left), null)
        for (let at = 0; at < length;) at += writeSync(to, piece, at, length - at)
        yield
      }
    } catch (cause) {
      const { code, syscall } = cause as NodeJS.ErrnoException
      const message = `${source} cannot be copied into ${dirname(target)}: ${messageOf(cause)}`
      throw Object.assign(new Error(message, { cause }), { code, syscall })
    } finally {
      closeSync(to)
    }
  } finally {
    closeSync(from)
  }
}

// Buffers for files. If a copy's target is a little behind its source, by the last 12 bits, an AMD
// processor takes four times as long (`rep movsb`; EPYC: 83 ms for 190 MB instead of 21). File
// pages are aligned, and Node's large buffers mostly begin 16 bytes after a page boundary.

const beginsAt = pageBytes / 2

export function newFileBuffer(bytes: number): Buffer {
  const room = Buffer.allocUnsafeSlow(bytes + pageBytes)
  const before = (beginsAt - offsetInPage(room) + pageBytes) % pageBytes
  return room.subarray(before, before + bytes)
}
