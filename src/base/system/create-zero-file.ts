// Makes the files that processes map and write (memory-map.ts).

import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Makes `path`, which must not be there, of `bytes` zeros that begin with `head`. It has all its
 * blocks from then on, because a write to a hole of a mapped file ends the process where the disk
 * is full. Throws what the system throws, and leaves nothing then.
 */
export function createZeroFile(
  path: string,
  bytes: number,
  { head = new Uint8Array(0) } = {},
): void {
  const content = Buffer.alloc(bytes)
  content.set(head)
  const descriptor = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(descriptor, content)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(descriptor)
  }
}
