#!/usr/bin/env node
// What `npx iprisk` and `npm start` run: the compiled program, in this process. In a project with its
// sources it compiles first what is not compiled, or older than they are; once, for both of them.
// Where the compiler's packages are left out (`npm ci --omit=dev`) it runs what there is.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Also while it compiles (src/base/system/debugger-signal.ts).
process.on('SIGUSR1', () => undefined)

const root = fileURLToPath(new URL('..', import.meta.url))
const program = new URL('../dist/src/cli/main.js', import.meta.url)
const stamp = join(root, 'dist/.tsbuildinfo')

/** Something in the folder, or the file, is newer than `ms`. */
function isNewer(path, ms) {
  const stat = statSync(path)
  if (stat.mtimeMs > ms) return true
  if (!stat.isDirectory()) return false
  return readdirSync(path).some((name) => isNewer(join(path, name), ms))
}

function isStale() {
  const sources = ['src', 'build'].map((name) => join(root, name))
  // An installed package has none, nor its compiler.
  if (!sources.every((path) => existsSync(path))) return false
  if (!existsSync(stamp) || !existsSync(program)) return true
  const { mtimeMs } = statSync(stamp)
  return [...sources, join(root, 'package.json')].some((path) => isNewer(path, mtimeMs))
}

function compile() {
  const { status } = spawnSync('npm', ['run', '--silent', 'compile'], {
    cwd: root,
    // Standard output belongs to the command's data.
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0 && !existsSync(program)) process.exit(1)
  return status === 0
}

if (isStale()) {
  const hasCompiler = existsSync(join(root, 'node_modules/.bin/tsc'))
  if (!hasCompiler && !existsSync(program)) {
    process.stderr.write('iprisk: it is not compiled yet: run `npm ci` first, without --omit=dev\n')
    process.exit(1)
  }
  if (hasCompiler && !compile()) process.exit(1)
}
await import(program.href)
