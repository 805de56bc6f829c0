// Makes the files that processes map and write (memory-map.ts).

import { closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import koffi from 'koffi'

/** Gives a file blocks of zeros; 0 where it has. */
type Allocate = (descriptor: number, from: number, bytes: number) => number

/** posix_fallocate(3); macOS has none. */
export const systemAllocate: Allocate =
  process.platform === 'linux'
    ? koffi.load(null).func('int posix_fallocate(int fd, long offset, long length)')
    : () => -1

/**
 * Makes `path`, which must not be there, of `bytes` zeros that begin with `head`. It has all its
 * blocks from then on, because a write to a hole of a mapped file ends the process where the disk
 * is full. The system allocates them where it can: writing 16 MB of zeros takes 34 ms. Throws what
 * the system throws, and leaves nothing then. Another `allocate` is for tests.
 */
export function createZeroFile(
  path: string,
  bytes: number,
  { head = new Uint8Array(0), allocate = systemAllocate } = {},
): void {
  const descriptor = openSync(path, 'wx', 0o600)
  try {
    if (allocate(descriptor, 0, bytes) !== 0) writeFileSync(descriptor, Buffer.alloc(bytes))
    writeSync(descriptor, head, 0, head.length, 0)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(descriptor)
  }
}
