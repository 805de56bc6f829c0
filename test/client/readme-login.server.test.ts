// The ten lines of README.md, taken from there: their login greets ordinary users, asks risky ones
// for more, and greets everybody where iprisk cannot be asked. readme-types.world.test.ts compiles
// them.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { eventually } from '../eventually.ts'
import { freePort } from '../../bench/harness/free-port.ts'
import { type Server, keyedState, startServer } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { installClient } from './installed-client.ts'
import { readmeLogin } from './readme-code.ts'
import { removeFolder } from '../remove-folder.ts'

// In the project, so that Express is found.
const folder = join(packageRoot, 'dist/readme-login')
const code = readmeLogin()

let server: Server
let application: ChildProcess
let port = 0

const login = async (address: string): Promise<string> => {
  const response = await fetch(`http://127.0.0.1:${port}/login`, {
    method: 'POST',
    headers: { 'X-Forwarded-For': address },
  })
  return response.text()
}

beforeAll(async () => {
  removeFolder(folder)
  await installClient(folder)
  const keyed = await keyedState({ test: true })
  server = await startServer({ table: writeSmallTable(), state: keyed.state })
  port = await freePort()
  const here = code
    .replace('http://127.0.0.1:8080', `http://127.0.0.1:${server.port}`)
    .replace('3000', String(port))
    // The machine of the tests may be busy.
    .replace('createClient({', 'createClient({ timeoutMs: 10_000,')
  writeFileSync(join(folder, 'app.mjs'), here)
  application = spawn(process.execPath, ['app.mjs'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, IPRISK_KEY: keyed.key },
  })
  await eventually(async () => {
    const there = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
    return there?.status === 404
  }, 30_000)
})
afterAll(async () => {
  application?.kill()
  await server?.stop()
  removeFolder(folder)
})

it('are ten', () => {
  expect(code.split('\n').filter((line) => line !== '')).toHaveLength(10)
})

it('stop without a key, with a message that says where to get one', () => {
  const env = { ...process.env, IPRISK_KEY: undefined }
  const ended = spawnSync(process.execPath, ['app.mjs'], { cwd: folder, env, encoding: 'utf8' })
  expect(ended.status).toBe(1)
  expect(ended.stderr).toContain('`key` is empty: set it to an API key from `iprisk keys create`.')
})

it.each([
  ['198.18.0.1', 'Welcome.'],
  ['198.18.0.6', 'One more step: we have sent you a code.'],
  ['198.18.0.8', 'One more step: we have sent you a code.'],
  ['198.18.0.9', 'Welcome.'],
  ['198.18.0.22', 'Welcome.'],
])('say to %s: %s', async (address, said) => {
  expect(await login(address)).toBe(said)
})

it('let everybody in where iprisk is gone', async () => {
  expect(await login('198.18.0.7')).toBe('One more step: we have sent you a code.')
  await server.stop()
  // It has not been asked about, so that no answer is kept.
  expect(await login('198.18.0.5')).toBe('Welcome.')
})
