// Temporary files of killed builds (named by base/system/atomic-file.ts), each up to the size of a
// table. The next build removes them unless their process is alive. A build in another container may
// lose its file to this: it fails loudly, and the live table is safe.

import { rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { namesIn } from '../../src/base/system/atomic-file.ts'
import { isProcessAlive } from '../../src/base/system/process.ts'

/** Removes the temporary files of `path` that no process of this machine is writing. */
export function removeStaleTempFiles(path: string): void {
  const folder = dirname(path)
  for (const name of namesIn(folder)) {
    if (!name.startsWith(`.${basename(path)}.`)) continue
    const pid = /^(\d+)\.[0-9a-f-]+\.tmp$/.exec(name.slice(basename(path).length + 2))?.[1]
    if (pid === undefined) continue
    if (Number(pid) !== process.pid && isProcessAlive(Number(pid))) continue
    rmSync(join(folder, name), { force: true })
  }
}
