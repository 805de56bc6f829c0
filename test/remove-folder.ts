// How does a folder end that a process wrote into until just now?

import { rmSync } from 'node:fs'

/**
 * Removes a folder with all that is in it, again for two seconds while a process that is just ending
 * writes into it. rmSync's own retries do not look for what was written since it began.
 */
export function removeFolder(folder: string): void {
  for (let tries = 40; ; tries -= 1) {
    try {
      rmSync(folder, { recursive: true, force: true })
      return
    } catch (error) {
      if (tries === 0 || !(error instanceof Error && 'code' in error)) throw error
      if (error.code !== 'ENOTEMPTY') throw error
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
  }
}
