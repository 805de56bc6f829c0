// When a table was built. The table itself holds no clock, so that equal inputs give equal bytes:
// its file's time tells.

import { statSync } from 'node:fs'

/** Milliseconds since the epoch, whole. Throws ENOENT where there is no such file. */
export function builtMsOf(path: string): number {
  return Math.floor(statSync(path).mtimeMs)
}
