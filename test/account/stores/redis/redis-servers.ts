// Real stores for tests: redis-server processes on free ports, each with a folder of its own,
// alone, under sentinels or as a cluster. They end with the test that started them. A machine
// without redis-server skips these tests and says so; where CI=true it fails.

import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe } from 'vitest'
import { freePort } from '../../../../bench/harness/free-port.ts'
import type { StoreSettings } from '../../../../src/config/settings.ts'
import { removeFolder } from '../../../remove-folder.ts'

const present = spawnSync('redis-server', ['--version']).status === 0

/** `describe` for what needs redis-server: skipped without it, but never where CI=true. */
export function describeStores(name: string, body: () => void): void {
  const wanted = present || process.env['CI'] === 'true'
  describe.runIf(wanted)(`${name}${wanted ? '' : ' (no redis-server here)'}`, () => {
    body()
  })
}

const run = promisify(execFile)

export function storeSettings(url: string, more: Partial<StoreSettings> = {}): StoreSettings {
  return { url, policy: 'refuse', timeoutMs: 300, replicas: 0, ...more }
}

export interface Certificate {
  readonly caFile: string
  readonly certFile: string
  readonly keyFile: string
}

/** A certificate for 127.0.0.1 and localhost that vouches for itself. */
export function makeCertificate(folder: string): Certificate {
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const names = 'subjectAltName=IP:127.0.0.1,DNS:localhost'
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const more = ['-days', '2', '-subj', '/CN=localhost', '-addext', names]
  execFileSync('openssl', [...args, ...more, '-keyout', keyFile, '-out', certFile], {
    stdio: 'ignore',
  })
  return { caFile: certFile, certFile, keyFile }
}

/** One redis-server process, which can be frozen, killed and started again on its data. */
export class StoreServer {
  readonly port: number
  readonly folder: string
  readonly args: readonly string[]
  /** For redis-cli. */
  readonly access: readonly string[]
  child: ChildProcess | undefined

  constructor(options: {
    readonly port: number
    readonly args?: readonly string[]
    readonly access?: readonly string[]
  }) {
    this.port = options.port
    this.folder = mkdtempSync(join(tmpdir(), 'iprisk-redis-'))
    this.args = options.args ?? []
    this.access = ['-h', '127.0.0.1', '-p', String(options.port), ...(options.access ?? [])]
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  async start(): Promise<void> {
    const own = ['--dir', this.folder, '--save', '', '--bind', '127.0.0.1', '--loglevel', 'warning']
    // A replica need not wait for others that may want the same copy.
    own.push('--repl-diskless-sync-delay', '0')
    const port = this.args.includes('--port') ? [] : ['--port', String(this.port)]
    this.child = spawn('redis-server', [...this.args, ...port, ...own], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    await this.until((answer) => answer === 'PONG', 'ping')
  }

  async cli(...command: readonly string[]): Promise<string> {
    const { stdout } = await run('redis-cli', [...this.access, ...command], { timeout: 10_000 })
    return stdout.trim()
  }

  async until(test: (answer: string) => boolean, ...command: readonly string[]): Promise<void> {
    for (let tries = 0; tries < 400; tries += 1) {
      const answer = await this.cli(...command).catch((error: unknown) => String(error))
      if (test(answer)) return
      await sleep(25)
    }
    throw new Error(`redis-server on ${this.port} never said what was waited for`)
  }

  freeze(): void {
    this.child?.kill('SIGSTOP')
  }

  thaw(): void {
    this.child?.kill('SIGCONT')
  }

  async kill(): Promise<void> {
    const { child } = this
    if (child === undefined) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
    this.child = undefined
  }

  async end(): Promise<void> {
    await this.kill()
    // Its child that copies the data may outlive it for a moment, and write.
    removeFolder(this.folder)
  }
}

export async function startStore(
  args: readonly string[] = [],
  access: readonly string[] = [],
): Promise<StoreServer> {
  const server = new StoreServer({ port: await freePort(), args, access })
  await server.start()
  return server
}

/** A server that speaks TLS alone. */
export async function startTlsStore(certificate: Certificate): Promise<StoreServer> {
  const { caFile, certFile, keyFile } = certificate
  const port = await freePort()
  const files = [
    '--tls-cert-file',
    certFile,
    '--tls-key-file',
    keyFile,
    '--tls-ca-cert-file',
    caFile,
  ]
  const args = ['--port', '0', '--tls-port', String(port), ...files, '--tls-auth-clients', 'no']
  const server = new StoreServer({ port, args, access: ['--tls', '--cacert', caFile] })
  await server.start()
  return server
}

export interface Sentinels {
  readonly url: string
  readonly master: StoreServer
  readonly replica: StoreServer
  readonly end: () => Promise<void>
}

/** A master, a replica and one sentinel, whose word is enough. */
export async function startSentinels(): Promise<Sentinels> {
  const master = await startStore(['--appendonly', 'yes'])
  const replica = await startStore(['--replicaof', '127.0.0.1', String(master.port)])
  await replica.until((answer) => answer.includes('master_link_status:up'), 'info', 'replication')
  const port = await freePort()
  const sentinel = new StoreServer({ port })
  const config = join(sentinel.folder, 'sentinel.conf')
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${sentinel.folder}`,
    `sentinel monitor main 127.0.0.1 ${master.port} 1`,
    'sentinel down-after-milliseconds main 1500',
    'sentinel failover-timeout main 1000',
  ]
  writeFileSync(config, `${lines.join('\n')}\n`)
  sentinel.child = spawn('redis-server', [config, '--sentinel'], { stdio: 'ignore' })
  const list = ['sentinel', 'replicas', 'main']
  await sentinel.until((answer) => answer.includes(String(replica.port)), ...list)
  return {
    url: `redis+sentinel://127.0.0.1:${port}/main`,
    master,
    replica,
    end: async () => {
      for (const server of [sentinel, replica, master]) await server.end()
    },
  }
}

export interface StoreCluster {
  readonly url: string
  readonly nodes: readonly StoreServer[]
  readonly end: () => Promise<void>
}

/**
 * Three masters with a third of the slots each, and so many replicas of each. A master that comes
 * back before it is replaced, and has forgotten a second, has its replica forget it as well; so
 * what has replicas has a log that is written before the answer.
 */
export async function startCluster(replicas = 0): Promise<StoreCluster> {
  const log = replicas === 0 ? [] : ['--appendonly', 'yes', '--appendfsync', 'always']
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000', ...log]
  const count = 3 * (1 + replicas)
  const nodes = await Promise.all(Array.from({ length: count }, () => startStore(args)))
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`)
  const more = ['--cluster-replicas', String(replicas), '--cluster-yes']
  await run('redis-cli', ['--cluster', 'create', ...hosts, ...more])
  for (const node of nodes) {
    await node.until((answer) => answer.includes('cluster_state:ok'), 'cluster', 'info')
    const linked = /role:master[\s\S]*connected_slaves:(\d)|master_link_status:up/
    const isLinked = (answer: string): boolean => {
      const [found, slaves] = linked.exec(answer) ?? []
      return found !== undefined && (slaves === undefined || Number(slaves) === replicas)
    }
    await node.until(isLinked, 'info', 'replication')
  }
  return {
    url: `redis+cluster://${hosts.join(',')}`,
    nodes,
    end: async () => {
      for (const node of nodes) await node.end()
    },
  }
}

/** Files for tests that need some beside a server. */
export function testFolder(): { readonly path: string; readonly end: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'iprisk-store-'))
  return { path, end: () => removeFolder(path) }
}
