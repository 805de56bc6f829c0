// One command for a look at it: iprisk with a test key and the policies beside this file, and the
// login in front of it. Your own would run server.js alone, beside an iprisk that runs already.

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const program = join(here, '../../../bin/iprisk.mjs')
const state = mkdtempSync(join(tmpdir(), 'iprisk-example-'))

// Both commands read the same files, and not the ones of the folder where this is started.
const surroundings = {
  cwd: state,
  env: { ...process.env, IPRISK_POLICIES: join(here, 'policies.json') },
}

const keyOptions = ['--test', '--plan', 'enterprise', '--policies', 'login,signup', '--json']
const made = spawnSync(
  process.execPath,
  [program, 'keys', 'create', ...keyOptions, '--state', state],
  { ...surroundings, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
)
if (made.status !== 0) process.exit(1)

// What `npm install` does with the published client.
const { writeClientPackage } = await import('../../../deploy/packages.mjs')
writeClientPackage(join(here, 'node_modules/iprisk-client'))

// A test key needs no table, so none is compiled.
const serveOptions = ['--port', '0', '--admin-port', '0', '--workers', '1', '--state', state]
const iprisk = spawn(process.execPath, [program, 'serve', ...serveOptions], {
  ...surroundings,
  stdio: ['ignore', 'ignore', 'pipe'],
})
process.once('exit', () => {
  iprisk.kill()
  rmSync(state, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit())

iprisk.once('exit', (code) => {
  console.error(`iprisk ended with ${code}`)
  process.exit(1)
})
createInterface(iprisk.stderr).on('line', (line) => {
  const [, url] = /^iprisk serves (\S+) /.exec(line) ?? []
  if (url === undefined) return
  console.info(`iprisk answers at ${url}`)
  Object.assign(process.env, { IPRISK_URL: url, IPRISK_KEY: JSON.parse(made.stdout).key })
  void import('./server.js')
})
