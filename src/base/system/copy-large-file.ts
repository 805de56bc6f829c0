// Copies a large file that processes will map (memory-map.ts).

import { closeSync, constants, copyFileSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../coded-error.ts'
import { offsetInPage, pageBytes } from './memory-map.ts'

/** A multiple of 2 MB, the large pages of memory, so that each piece fills some of them. */
const pieceBytes = 2 ** 23

/**
 * Copies `source` over whatever `target` is. Where the file system can, the two share blocks, which
 * takes no time. Elsewhere the copy is written in large pieces: the system then keeps it in pages
 * of 2 MB, and maps it by these. A copy by `copyFile` of Node.js lay in pages of 4 kB alone, and
 * took 77 to 129 ms for 190 MB in place of 48, because ext4 begins to flush it when it is closed.
 * Throws what the system throws, with the folder that has no room; what was written stays.
 */
export function copyLargeFile(source: string, target: string): void {
  const steps = copyLargeFileInSteps(source, target)
  while (steps.next().done !== true);
}

/**
 * The same in steps of a few milliseconds, so that the event loop can run between them. Copies at
 * most `bytesMax`, even if the file grows.
 */
export function* copyLargeFileInSteps(
  source: string,
  target: string,
  bytesMax = Infinity,
): Generator<undefined, void, undefined> {
  try {
    copyFileSync(source, target, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL)
  } catch {
    // Two file systems, or one that cannot. Whatever else is wrong shows itself again.
    yield* copyInPieces(source, target, bytesMax)
  }
}

const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants
const targetFlags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW

function* copyInPieces(
  source: string,
  target: string,
  bytesMax: number,
): Generator<undefined, void, undefined> {
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

// Memory that files are read into, or written from, in large pieces.
//
// The system keeps files in whole pages, and large buffers of Node.js mostly begin 16 bytes behind
// a page's beginning. Where a copy's target lies so little behind its source, by the last 12 bits
// of their addresses, an AMD processor takes four times as long for it (`rep movsb`: each load
// waits for the store before it; on the EPYC of docs/targets.md 83 ms for 190 MB in place of 21).

/** Where in a page it begins: neither reading nor writing meets that. */
const beginsAt = pageBytes / 2

/** `bytes` of memory, filled with anything. */
export function newFileBuffer(bytes: number): Buffer {
  const room = Buffer.allocUnsafeSlow(bytes + pageBytes)
  const before = (beginsAt - offsetInPage(room) + pageBytes) % pageBytes
  return room.subarray(before, before + bytes)
}
