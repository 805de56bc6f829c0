// What a fleet stands on, each a real program in a process of its own: Redis with its data on disk,
// an S3-compatible store (s3rver, which checks signatures), HAProxy with the configuration that
// deploy/ ships. Redis and the store can be killed, started again on what they have, and frozen.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { packageRoot } from '../../../src/base/package-root.ts'
import { flagsOf } from '../../harness/child.ts'
import { freePort } from '../../harness/free-port.ts'
import { waitUntil } from '../server/served.ts'

const startMs = 60_000

export interface Service {
  readonly port: number
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
  readonly freeze: () => void
  readonly thaw: () => void
}

/** Whose processes end with this one. */
const living = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

export async function startRedis(folder: string): Promise<Service> {
  mkdirSync(folder)
  const kept = { dir: folder, save: '', appendonly: 'yes', appendfsync: 'always' }
  return startService('redis-server', (port) => {
    return flagsOf({ port, bind: '127.0.0.1', loglevel: 'warning', ...kept })
  })
}

/** With the bucket `tables`, and the credentials that `storeEnvironment` has. */
export async function startObjectStore(folder: string): Promise<Service> {
  const program = join(packageRoot, 'node_modules/s3rver/bin/s3rver.js')
  return startService(process.execPath, (port) => [
    program,
    ...flagsOf({ directory: folder, address: '127.0.0.1', port, 'configure-bucket': 'tables' }),
    '--silent',
  ])
}

export function storeEnvironment(port: number): Readonly<Record<string, string>> {
  return {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
  }
}

/** Where a server of the fleet listens. */
export interface Backend {
  readonly name: string
  readonly port: number
  readonly adminPort: number
}

/**
 * HAProxy as deploy/ ships it, with a line for each server, and with what a fleet of checks without
 * quotas may have besides: a check whose server dies or stands still is asked of another one.
 */
export async function startBalancer(
  folder: string,
  backends: readonly Backend[],
): Promise<Pick<Service, 'port' | 'kill'>> {
  const port = await freePort()
  const lines = backends.map((at) => {
    return `server ${at.name} 127.0.0.1:${at.port} check inter 1s fall 2 rise 1 port ${at.adminPort}`
  })
  const changes = [
    [':8000', `:${port}`],
    ['server one 127.0.0.1:8080', lines.join('\n    ')],
    ['retry-on conn-failure', 'retry-on conn-failure empty-response response-timeout'],
    ['retries 2', 'retries 4'],
    ['option redispatch', 'option redispatch 1'],
    ['timeout server 35s', 'timeout server 1s'],
  ] as const
  let text = readFileSync(join(packageRoot, 'deploy/haproxy/haproxy.cfg'), 'utf8')
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`deploy/haproxy/haproxy.cfg has no ${from} any more`)
    text = text.replace(from, to)
  }
  const path = join(folder, 'haproxy.cfg')
  writeFileSync(path, text)
  const child = spawn('haproxy', ['-db', '-f', path], { stdio: 'ignore' })
  living.add(child)
  if (!(await waitUntil(() => isOpen(port), startMs))) throw new Error('HAProxy does not listen')
  return { port, kill: () => killed(child) }
}

async function startService(
  program: string,
  argumentsOf: (port: number) => readonly string[],
): Promise<Service> {
  const port = await freePort()
  let child: ChildProcess | undefined
  const start = async (): Promise<void> => {
    child = spawn(program, argumentsOf(port), { stdio: 'ignore' })
    living.add(child)
    if (!(await waitUntil(() => isOpen(port), startMs))) {
      throw new Error(`${program} does not listen`)
    }
  }
  await start()
  return {
    port,
    start,
    kill: async () => (child === undefined ? undefined : killed(child)),
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  }
}

function killed(child: ChildProcess): Promise<void> {
  living.delete(child)
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}

/** What still passes of an answer when the cable is cut: a manifest does, and half of the parts. */
const cutBytes = 3000

export interface Cable {
  readonly port: number
  readonly cut: () => void
  readonly mend: () => void
  readonly close: () => void
}

export async function layCable(to: number): Promise<Cable> {
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    const far = connect({ port: to, host: '127.0.0.1' })
    let passed = 0
    const end = (): void => {
      near.destroy()
      far.destroy()
      open.delete(near)
    }
    open.add(near)
    near.on('data', (bytes) => far.write(bytes))
    far.on('data', (bytes) => {
      passed += bytes.length
      if (isCut && passed > cutBytes) near.write(bytes.subarray(0, bytes.length >> 1), end)
      else near.write(bytes)
    })
    for (const socket of [near, far]) socket.on('error', end).on('close', end)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    cut: () => {
      isCut = true
    },
    mend: () => {
      isCut = false
    },
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
