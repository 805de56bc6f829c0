// nginx and HAProxy as deploy/ ships them, on free ports: the shipped text with its ports replaced,
// and around that of nginx the few lines that a whole configuration needs.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { packageRoot } from '../../src/base/package-root.ts'
import { probePort } from '../../src/supervisor/sockets/port-probe.ts'

export const proxyNames = ['nginx', 'haproxy'] as const
export type ProxyName = (typeof proxyNames)[number]

export interface Proxy {
  readonly port: number
  /** By its log: the ids of the requests that it saw, and how often. */
  readonly forwarded: () => ReadonlyMap<string, number>
  readonly stop: () => Promise<void>
}

const shipped: Readonly<Record<ProxyName, string>> = {
  nginx: 'deploy/nginx/iprisk.conf',
  haproxy: 'deploy/haproxy/haproxy.cfg',
}

/** Whether tests with it run: where it is installed, and in CI, where they fail without it. */
export function isWanted(name: ProxyName): boolean {
  const present = spawnSync(name, ['-v'], { stdio: 'ignore' }).status === 0
  return present || process.env['CI'] !== undefined
}

/** Checks the shipped configuration by the proxy's own test, and starts it. */
export async function startProxy(
  name: ProxyName,
  to: { readonly port: number; readonly adminPort: number; readonly folder: string },
): Promise<Proxy> {
  const port = await probePort({ host: '127.0.0.1', port: 0 })
  const folder = join(to.folder, name)
  mkdirSync(folder)
  const text = withPorts(readFileSync(join(packageRoot, shipped[name]), 'utf8'), [
    ['8000', port],
    ['8080', to.port],
    ['9090', to.adminPort],
  ])
  const path = join(folder, 'proxy.conf')
  writeFileSync(path, name === 'nginx' ? wholeNginx(folder, text) : text)
  const flags = name === 'nginx' ? ['-p', folder, '-c', path] : ['-f', path]
  execFileSync(name, [...flags, name === 'nginx' ? '-t' : '-c'], { stdio: 'pipe' })
  // HAProxy logs to its standard output, nginx to a file.
  const log = join(folder, 'log')
  const output = openSync(log, 'a')
  const child = spawn(name, name === 'nginx' ? flags : ['-db', ...flags], {
    stdio: ['ignore', output, 'ignore'],
  })
  closeSync(output)
  await listening(child, port)
  return {
    port,
    forwarded: () => idsIn(readFileSync(log, 'latin1')),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** Each port stands where the shipped file has it, or the file has changed without this test. */
function withPorts(text: string, ports: readonly (readonly [string, number])[]): string {
  let replaced = text
  for (const [shippedPort, port] of ports) {
    replaced = replaced.replaceAll(
      new RegExp(`(listen |:|port )${shippedPort}\\b`, 'g'),
      `$1${port}`,
    )
  }
  return replaced
}

function wholeNginx(folder: string, site: string): string {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
    .join(' ')
  return [
    `daemon off; worker_processes 1; pid ${join(folder, 'pid')}; error_log stderr crit;`,
    `events { worker_connections 2048; }`,
    `http { ${paths}`,
    site,
    `access_log ${join(folder, 'log')} iprisk; }`,
  ].join('\n')
}

/** Both end their lines with the request's id. */
function idsIn(log: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const line of log.split('\n')) {
    const id = line.slice(line.lastIndexOf(' ') + 1)
    if (id !== '') counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  const until = performance.now() + 15_000
  while (performance.now() < until) {
    if (child.exitCode !== null) throw new Error(`the proxy ended with ${child.exitCode}`)
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' })
      socket.once('error', () => resolve(false))
      socket.once('connect', () => {
        socket.destroy()
        resolve(true)
      })
    })
    if (open) return
    await new Promise((next) => setTimeout(next, 20))
  }
  throw new Error('the proxy does not listen')
}
