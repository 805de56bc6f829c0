// The login in Python that docs/gate.md shows is taken from there and run. Only ports and time-outs
// are changed, for the machine of the tests may be busy.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../src/base/package-root.ts'
import { freePort } from '../../bench/harness/free-port.ts'
import { describeWith } from '../deploy/need.ts'
import { eventually } from '../eventually.ts'
import { type Server, keyedState, startServer } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { exampleFolder } from './example-login.ts'
import { removeFolder } from '../remove-folder.ts'

const text = readFileSync(join(packageRoot, 'docs/gate.md'), 'utf8')

/** The only block of that language. */
function blockOf(language: string): string {
  const blocks = [...text.matchAll(/^```(\w+)\n([^]*?)^```/gm)].filter(
    ([, one]) => one === language,
  )
  if (blocks.length !== 1) throw new Error(`docs/gate.md has ${blocks.length} of ${language}.`)
  return blocks[0]?.[2] ?? ''
}

/** `block` with each pair's left text, which stands in it once, replaced by the right one. */
function changed(block: string, pairs: readonly (readonly [string, string])[]): string {
  let now = block
  for (const [from, to] of pairs) {
    if (block.split(from).length !== 2) throw new Error(`Not once in docs/gate.md: ${from}`)
    now = now.replace(from, to)
  }
  return now
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isThere = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isThere
}

// In the project's dist: nothing of it is committed.
const folder = join(packageRoot, 'dist/by-hand')
let iprisk: Server
let key = ''
const children: ChildProcess[] = []

/** A program that listens on `port`, and what it writes to standard error. */
async function run(
  command: string,
  file: string,
  { port, code, key }: { readonly port: number; readonly code: string; readonly key: string },
): Promise<() => string> {
  writeFileSync(join(folder, file), code)
  const child = spawn(command, [file], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, IPRISK_KEY: key },
  })
  children.push(child)
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk
  })
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${errors}`)
    return listens(port)
  }, 30_000)
  return () => errors
}

beforeAll(async () => {
  removeFolder(folder)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const keyed = await keyedState({ test: true, policies: ['login'] })
  key = keyed.key
  const args = ['--policies', join(exampleFolder, 'policies.json')]
  iprisk = await startServer({ table: writeSmallTable(), state: keyed.state, args })
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await iprisk?.stop()
  removeFolder(folder)
})

const address = (number: number): string => `198.18.0.${number}`

describeWith('python3', ['--version'], () => {
  const python = blockOf('python')
  let port = 0
  let errors: () => string

  const start = async (own: string): Promise<void> => {
    port = await freePort()
    const code = changed(python, [
      ["'127.0.0.1', 8080", `'127.0.0.1', ${iprisk.port}`],
      ["'127.0.0.1', 3000", `'127.0.0.1', ${port}`],
      ['timeout=0.15', 'timeout=1.5'],
    ])
    errors = await run('python3', `login-${port}.py`, { port, code, key: own })
  }
  const login = async (number: number): Promise<readonly [number, string]> => {
    const headers = { 'X-Real-IP': address(number) }
    const response = await fetch(`http://127.0.0.1:${port}/login`, { method: 'POST', headers })
    return [response.status, await response.text()]
  }

  beforeAll(() => start(key))

  it('is at most 25 lines', () => {
    expect(python.trimEnd().split('\n').length).toBeLessThanOrEqual(25)
  })

  it.each([
    [1, 200, 'Welcome.'],
    [5, 200, 'One more step: we have sent you a code.'],
    [8, 403, 'Not from this connection.'],
    [21, 200, 'One more step: we have sent you a code.'],
    [22, 200, 'Welcome.'],
    [23, 200, 'Welcome.'],
  ])('answers the last number %i: %i, %s', async (number, status, said) => {
    expect(await login(number)).toEqual([status, said])
  })

  it('says why it had no decision', async () => {
    await eventually(() => errors().includes('upstream_unavailable'))
    await eventually(() => errors().includes('timed out'))
    await start(`irkt_${'0'.repeat(12)}_wrong`)
    expect(await login(8)).toEqual([200, 'Welcome.'])
    // What it writes may come after its answer.
    await eventually(() => errors().includes('invalid_api_key'))
  })
})
