// Real servers for proofs: the compiled command line on free ports of loopback, with a key, asked
// through its admin port and its control socket, and looked at through /proc. A server whose memory
// a proof compares collects its garbage when told so (collect.ts).

import { existsSync, mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { writeTable } from '../../../build/write/write-table.ts'
import type { ServerStatus } from '../../../src/admin/status.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import { parseStat, privateBytesOf, readSystemFile } from '../../../src/base/system/process.ts'
import {
  type ControlReply,
  controlSocketPath,
  sendControlRequest,
} from '../../../src/supervisor/sockets/control-socket.ts'
import { smallContent } from '../../../test/table/small-table.ts'
import { type Child, cliProgram, flagsOf, runChild, startChild } from '../../harness/child.ts'

const collect = join(packageRoot, 'dist/bench/faults/server/collect.js')
const startMs = 60_000

export interface ProofServer {
  readonly pid: number
  readonly port: number
  readonly adminPort: number
  readonly state: string
  /** Where its processes note what they hold (collect.ts). */
  readonly memoryFolder: string
  readonly key: string
  /** The last lines of its log. */
  readonly logLines: () => readonly string[]
  readonly status: () => Promise<ServerStatus>
  readonly sendCommand: (request: Parameters<typeof sendControlRequest>[1]) => Promise<ControlReply>
  readonly end: () => Promise<void>
}

interface ProofServerOptions {
  /** Holds the state; another server on it is given the same one. */
  readonly folder: string
  readonly table: string
  readonly workers?: number
  readonly flags?: Readonly<Record<string, string | number>>
  /** Takes the place of this server. */
  readonly over?: ProofServer
  /** For processMemoryUse. */
  readonly collecting?: boolean
}

export async function startProofServer(options: ProofServerOptions): Promise<ProofServer> {
  const { folder, table, workers = 2, flags = {}, over, collecting = false } = options
  const [state, memoryFolder] = [join(folder, 'state'), join(folder, 'memoryFolder')]
  const key = over?.key ?? (await newKey(folder, { state }))
  const ports = { port: over?.port ?? 0, 'admin-port': over?.adminPort ?? 0 }
  const { child, found } = await startChild(
    [
      ...(collecting ? collectingNode(memoryFolder) : ([process.execPath] as const)),
      cliProgram,
      'serve',
      ...flagsOf({ ...ports, workers, state, table, 'log-level': 'error', ...flags }),
      ...(over === undefined ? [] : ['--takeover']),
    ],
    {
      timeoutMs: startMs,
      cwd: folder,
      // The line comes once: a server that began without a table is given up.
      ready: (line) =>
        /^iprisk serves \S+?:(\d+) with .*, table .* on \S+?:(\d+)$/.exec(line) ?? undefined,
    },
  )
  return servedOf(child, {
    port: Number(found[1]),
    adminPort: Number(found[2]),
    state,
    memoryFolder,
    key,
  })
}

function servedOf(
  { pid, end, said: logLines }: Child,
  at: Pick<ProofServer, 'port' | 'adminPort' | 'state' | 'memoryFolder' | 'key'>,
): ProofServer {
  return {
    ...at,
    pid,
    end,
    logLines,
    status: async () => {
      const response = await fetch(`http://127.0.0.1:${at.adminPort}/status`)
      return (await response.json()) as ServerStatus
    },
    sendCommand: async (request) =>
      (await sendControlRequest(controlSocketPath(at.state, at.port), request)) ?? {
        ok: false,
        text: 'nobody',
      },
  }
}

function collectingNode(held: string): readonly [string, ...string[]] {
  const preload = pathToFileURL(collect)
  preload.searchParams.set('folder', held)
  return ['env', `NODE_OPTIONS=--import ${preload.href}`, process.execPath]
}

/** Makes a key of the plan without limits, in the store that the flags name. */
export async function newKey(
  folder: string,
  flags: Readonly<Record<string, string>>,
): Promise<string> {
  const command = [process.execPath, cliProgram, 'keys', 'create', '--json'] as const
  const made = await runChild([...command, ...flagsOf({ plan: 'internal', ...flags })], {
    timeoutMs: startMs,
    cwd: folder,
  })
  return (JSON.parse(made) as { readonly key: string }).key
}

/** Waits until `done` holds; `false` after `ms`. */
export async function waitUntil(
  done: () => boolean | Promise<boolean>,
  ms: number,
): Promise<boolean> {
  const end = performance.now() + ms
  while (!(await done())) {
    if (performance.now() > end) return false
    await sleep(10)
  }
  return true
}

/** The tables that a process has mapped, also those whose files are gone. */
export function mappedTables(pid: number): readonly string[] {
  const maps = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')
  const paths = maps.flatMap((line) => /\S+\.iprisk.*$/.exec(line)?.[0] ?? [])
  return [...new Set(paths)]
}

/** Open files, sockets and whatever else has a descriptor. */
export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/**
 * Established connections to the port: those that a process has accepted, and those that none has.
 */
export function connectionsOf(
  pid: number,
  port: number,
): { readonly accepted: number; readonly waiting: number } {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const inodes = new Set<string>()
  let waiting = 0
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const [, address = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
    if (!address.endsWith(local) || state !== '01') continue
    // A socket is no file before it is accepted (proc_net_tcp).
    if (inode === '0') waiting += 1
    else inodes.add(`socket:[${inode}]`)
  }
  const folder = `/proc/${pid}/fd`
  const accepted = readdirSync(folder).filter((name) => {
    try {
      return inodes.has(readlinkSync(join(folder, name)))
    } catch {
      return false
    }
  }).length
  return { accepted, waiting }
}

/** Bytes, of some processes together. */
export interface MemoryUse {
  /** Live objects and blocks in use, all garbage collected. */
  readonly used: number
  /**
   * Private anonymous pages, including those that heaps and the allocator keep for later.
   */
  readonly resident: number
}

/** For processes to collect their garbage; each of two times. */
const collectMs = 1000

/** Of the primary and its workers. */
export async function serverMemoryUse(served: ProofServer): Promise<MemoryUse> {
  const { workers } = await served.status()
  return processMemoryUse(served, [served.pid, ...workers.each.map(({ pid }) => pid)])
}

/** Has processes of a server collect, and waits for it. */
export async function processMemoryUse(
  served: ProofServer,
  pids: readonly number[],
): Promise<MemoryUse> {
  const folder = served.memoryFolder
  for (let time = 0; time < 2; time += 1) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    for (const pid of pids) process.kill(pid, 'SIGWINCH')
    await sleep(collectMs)
  }
  const names = readdirSync(folder)
  const silent = pids.filter((pid) => !names.includes(`${pid}-0`))
  if (silent.length > 0) throw new Error(`The processes ${silent.join(', ')} did not say.`)
  const own = names.filter((name) => pids.includes(Number.parseInt(name, 10)))
  const noted = own.map((name) => Number(readFileSync(join(folder, name), 'utf8')))
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)
  return { used: sum(noted), resident: sum(pids.map((pid) => privateBytesOf(pid) ?? NaN)) }
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}

export interface SmallServer {
  readonly port: number
  readonly key: string
  /** Process ids. */
  readonly primary: number
  readonly worker: number
  /** The sum of the samples of a metric whose labels hold `label`. */
  readonly metric: (name: string, label?: string) => Promise<number>
  /** Of the worker; of one that died `undefined`. */
  readonly memoryUse: () => Promise<MemoryUse | undefined>
  /** The last lines of the log, each a failure or a warning. */
  readonly logLines: () => readonly string[]
  /** User and system time of the worker; of one that died NaN. */
  readonly cpuSeconds: () => number
  readonly end: () => Promise<void>
}

/** `flags` are those of `serve`. */
export async function startSmallServer(
  folder: string,
  flags: Readonly<Record<string, string | number>> = {},
): Promise<SmallServer> {
  mkdirSync(folder, { recursive: true })
  const table = join(folder, 'small.iprisk')
  writeTable(table, smallContent())
  const all = { 'log-level': 'warn', ...flags }
  const served = await startProofServer({
    folder,
    table,
    workers: 1,
    flags: all,
    collecting: true,
  })
  const { port, key, adminPort, end } = served
  const worker = (await served.status()).workers.each[0]!.pid
  return {
    port,
    key,
    primary: served.pid,
    worker,
    metric: async (name, label = '') => {
      const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`)
      return sumOf(await response.text(), name, label)
    },
    memoryUse: async () =>
      existsSync(`/proc/${worker}`) ? processMemoryUse(served, [worker]) : undefined,
    logLines: served.logLines,
    cpuSeconds: () => {
      const stat = parseStat(readSystemFile(`/proc/${worker}/stat`))
      return (stat?.ticks ?? NaN) / 100
    },
    end,
  }
}

function sumOf(text: string, name: string, label: string): number {
  let sum = 0
  for (const line of text.split('\n')) {
    const match = /^(\w+)(\{.*\})? (\S+)$/.exec(line)
    if (match?.[1] === name && (match[2] ?? '').includes(label)) sum += Number(match[3])
  }
  return sum
}
