// What a killed build left beside its files (the names of base/system/atomic-file.ts), up to the size
// of a table each. The next build removes them. Names of living processes stay, for that build may be running;
// a file taken from under one in another container costs that build, loudly, never the live table.

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
