// `npm run bench -- report`: makes bench/REPORT.md and its plots of the newest kept run, or of the
// one that `--run FOLDER` names. Also what `npm run bench -- --save` ends with.

import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packageRoot } from '../../../src/base/package-root.ts'
import { usageError } from '../../../src/base/coded-error.ts'
import { readFlags } from '../../harness/option.ts'
import { runProgram, logProgress } from '../../harness/program.ts'
import { publishedFiles } from '../report/markdown.ts'
import { newestRun } from '../report/kept-run.ts'

async function main(): Promise<number> {
  const { run } = readFlags({ texts: ['run'] })
  const folder = run === undefined ? newestRun(join(packageRoot, 'bench/runs')) : resolve(run)
  if (folder === undefined)
    throw usageError('There is no kept run: make one with "npm run bench -- --save".')
  for (const [path, text] of publishedFiles(folder)) {
    writeFileSync(join(packageRoot, path), text)
    logProgress(path)
  }
  return Promise.resolve(0)
}

await runProgram(main)
