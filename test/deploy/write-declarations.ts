// The types of what was compiled, which only packages have: `npm run compile` writes none, for they
// take longer than all the rest of it.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { packageRoot } from '../../src/base/package-root.ts'
import { acquireFileLock } from '../../src/base/system/file-lock.ts'
import { eventually } from '../eventually.ts'

/** As `npm run declarations` does; one test at a time, and nothing is written twice. */
export async function writeDeclarations(): Promise<void> {
  const lock = await eventually(() => acquireFileLock(join(packageRoot, 'dist/.declarations.lock')))
  try {
    const compiler = join(packageRoot, 'node_modules/typescript/bin/tsc')
    execFileSync(process.execPath, [compiler, '-p', join(packageRoot, 'deploy/declarations.json')])
  } finally {
    lock.release()
  }
}
