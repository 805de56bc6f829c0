// A real server for proofs: the compiled command line on free ports of loopback, with a key, asked
// through its admin port and its control socket, and looked at through /proc.

import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import {
  type ControlReply,
  sendControlRequest,
  controlSocketPath,
} from '../../../src/supervisor/sockets/control-socket.ts'
import type { ServerStatus } from '../../../src/admin/status.ts'
import { type Child, flagsOf, runChild, startChild, cliProgram } from '../../harness/child.ts'
import { packageRoot } from '../../../src/base/package-root.ts'

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
  /** For held.ts. */
  readonly collecting?: boolean
}

export async function startProofServer(options: ProofServerOptions): Promise<ProofServer> {
  const { folder, table, workers = 2, flags = {}, over, collecting = false } = options
  const [state, memoryFolder] = [join(folder, 'state'), join(folder, 'memoryFolder')]
  const key = over?.key ?? (await newKey(folder, state))
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

async function newKey(folder: string, state: string): Promise<string> {
  const made = await runChild(
    [
      process.execPath,
      cliProgram,
      'keys',
      'create',
      '--plan',
      'internal',
      '--json',
      '--state',
      state,
    ],
    { timeoutMs: startMs, cwd: folder },
  )
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
