// Real servers for the process tests: the compiled command line on free ports of loopback, with a
// state folder of its own, its standard error kept, and ended by the test that started it.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { createKey } from '../../src/account/keys/issue-key.ts'
import { openLmdbKeyStore } from '../../src/account/stores/lmdb/lmdb-stores.ts'
import type { NewKey } from '../../src/account/keys/key-record.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { eventually } from '../eventually.ts'
import { freePort } from '../../bench/harness/free-port.ts'
import { atEndOfFile } from '../ends.ts'
import { removeFolder } from '../remove-folder.ts'

const program = join(packageRoot, 'dist/src/cli/main.js')

export interface Server {
  readonly child: ChildProcess
  readonly port: number
  readonly adminPort: number
  readonly state: string
  /** All that it wrote to standard error so far. */
  readonly stderr: () => string
  /** The exit code; it is asked to end by `signal`. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>
  /** The body of a page of the admin port. */
  readonly admin: (path: string) => Promise<{ readonly status: number; readonly text: string }>
  /** The sum of the samples of a metric whose labels include `labels`. */
  readonly metric: (name: string, labels?: string) => Promise<number>
}

/** A machine that is busy with other things takes its time to start several servers at once. */
const startMs = 60_000
/** Many times what a server waits for its connections. */
const stopMs = 60_000

const folders: string[] = []
atEndOfFile(() => {
  for (const folder of folders.splice(0)) removeFolder(folder)
})

/** A folder of its own, removed when the tests end. */
export function newState(): string {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-state-'))
  folders.push(folder)
  return folder
}

/** Runs `iprisk serve` and waits until it says what it serves. */
export async function startServer(options: {
  readonly table: string
  readonly state?: string
  readonly workers?: number
  readonly args?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** A command that becomes the server: `prlimit --nofile=…`. */
  readonly under?: readonly string[]
}): Promise<Server> {
  const { table, state = newState(), workers = 1, args = [], environment = {}, under } = options
  const { child, stderr } = runServe(
    [
      ['--port', String(await freePort()), '--admin-port', '0', '--workers', String(workers)],
      ['--state', state, '--table', table, '--drain-seconds', '5', ...args],
    ].flat(),
    environment,
    under,
  )
  const line = await eventually(() => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${stderr()}`)
    return /^iprisk serves \S+?:(\d+) with .* on \S+?:(\d+)$/m.exec(stderr()) ?? undefined
  }, startMs)
  const port = Number(line[1])
  const adminPort = Number(line[2])
  const admin: Server['admin'] = async (path) => {
    const response = await fetch(`http://127.0.0.1:${adminPort}${path}`)
    return { status: response.status, text: await response.text() }
  }
  return {
    child,
    port,
    adminPort,
    state,
    stderr,
    admin,
    stop: async (signal = 'SIGTERM') => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal)
        await ended(child, signal, stderr)
      }
      return child.exitCode
    },
    metric: async (name, labels = '') => sumOf((await admin('/metrics')).text, name, labels),
  }
}

/** Resolves when the process has ended; throws, and kills it, where it is still there long after. */
async function ended(child: ChildProcess, signal: string, stderr: () => string): Promise<void> {
  try {
    await once(child, 'exit', { signal: AbortSignal.timeout(stopMs) })
  } catch (cause) {
    child.kill('SIGKILL')
    throw new Error(`it had not ended ${stopMs} ms after ${signal}: ${stderr()}`, { cause })
  }
}

/** `startServer` for tests whose servers end with them, whatever comes of the test. */
export function serversOfTests(): typeof startServer {
  const running: Server[] = []
  afterEach(async () => {
    for (const server of running.splice(0)) await server.stop('SIGKILL')
  })
  return async (options) => {
    const server = await startServer(options)
    running.push(server)
    return server
  }
}

/** The bare process, for starts that fail. */
export function runServe(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  under: readonly string[] = [],
): {
  readonly child: ChildProcess
  readonly stderr: () => string
} {
  const [command = '', ...rest] = [...under, process.execPath, program, 'serve', ...args]
  const child = spawn(command, rest, {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: newState(),
    env: { ...process.env, ...environment },
  })
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return { child, stderr: () => text }
}

export async function makeKey(state: string, key: Partial<NewKey> = {}): Promise<string> {
  const store = await openLmdbKeyStore(state)
  try {
    const whole: NewKey = { name: 'test', plan: 'internal', apis: ['ip-risk'], ...key }
    return (await createKey(store, whole, Date.now())).text
  } finally {
    await store.close()
  }
}

/** A state folder with one key: a server that starts over it knows the key from the beginning. */
export async function keyedState(
  key: Partial<NewKey> = {},
): Promise<{ readonly state: string; readonly key: string }> {
  const state = newState()
  return { state, key: await makeKey(state, key) }
}

/** For spans of time that a test is about; what is about to happen is awaited by `eventually`. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

export function sumOf(text: string, name: string, labels: string): number {
  let sum = 0
  for (const line of text.split('\n')) {
    const match = /^(\w+)(\{.*\})? (\S+)$/.exec(line)
    if (match?.[1] === name && (match[2] ?? '').includes(labels)) sum += Number(match[3])
  }
  return sum
}

/** For a server and what it starts: runs `program` in the processes whose program ends so. */
export function preloading(ending: string, program: string): Readonly<Record<string, string>> {
  const guarded = `if (process.argv[1]?.endsWith(${JSON.stringify(ending)})) { ${program} }`
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(guarded)}` }
}

/**
 * For tests that do not ask how a server's build runs: a `nice` that lowers nothing goes first in
 * the PATH, for beside other tests a build of the lowest priority has one part in seventy of a core.
 */
export function plainPriority(): Readonly<Record<string, string>> {
  const folder = newState()
  writeFileSync(join(folder, 'nice'), '#!/bin/sh\nshift 2\nexec "$@"\n', { mode: 0o755 })
  return { PATH: `${folder}:${process.env['PATH'] ?? ''}` }
}

/** Process ids of a server's children: its workers, and what takes a table in. */
export function workersOf(server: { readonly child: Pick<ChildProcess, 'pid'> }): number[] {
  const { pid } = server.child
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(/\s+/).filter(Boolean).map(Number)
}
