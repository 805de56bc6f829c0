// One server of a fleet: the compiled command line on ports of its own, which it keeps over a
// death; and what is seen of it from outside. It notes every table that it was seen to serve.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerStatus } from '../../../src/admin/status.ts'
import { type Child, flagsOf, startChild, cliProgram } from '../../harness/child.ts'
import { freePort } from '../../harness/free-port.ts'
import type { Backend } from './services.ts'

const startMs = 120_000
const lookMs = 2000

export interface Machine extends Backend {
  readonly table: string
  /** As it was seen last; `undefined` where it did not answer. */
  readonly status: () => ServerStatus | undefined
  /** The tables that it was seen to serve, in order. */
  readonly served: readonly string[]
  /** Reasons for which it was seen to refuse. */
  readonly refused: ReadonlySet<string>
  readonly look: () => Promise<void>
  readonly start: () => Promise<void>
  /** All of its processes at once, as where the power fails. */
  readonly kill: () => void
  readonly freeze: () => void
  readonly thaw: () => void
  readonly end: () => Promise<void>
}

export async function newMachine(of: {
  readonly name: string
  readonly folder: string
  readonly flags: Readonly<Record<string, string | number>>
  readonly environment: Readonly<Record<string, string>>
}): Promise<Machine> {
  const { name, flags } = of
  const folder = join(of.folder, name)
  mkdirSync(folder)
  const [port, adminPort] = [await freePort(), await freePort()]
  const [table, state] = [join(folder, 'world.iprisk'), join(folder, 'state')]
  const served: string[] = []
  const refused = new Set<string>()
  let child: Child | undefined
  let workers: readonly number[] = []
  let seen: ServerStatus | undefined
  const signal = (kind: NodeJS.Signals, pids: readonly number[]): void => {
    for (const pid of pids) {
      try {
        process.kill(pid, kind)
      } catch {
        // It has ended by itself.
      }
    }
  }
  const pids = (): readonly number[] => (child === undefined ? [] : [child.pid, ...workers])
  return {
    name,
    port,
    adminPort,
    table,
    served,
    refused,
    status: () => seen,
    look: async () => {
      seen = await statusOf(adminPort)
      workers = seen?.workers.each.map(({ pid }) => pid) ?? workers
      const id = seen?.table?.id
      if (id !== undefined && id !== served.at(-1)) served.push(id)
      const { last_refusal: refusal } = seen?.source ?? { last_refusal: null }
      if (refusal !== null) refused.add(refusal.code)
    },
    start: async () => {
      const all = { port, 'admin-port': adminPort, workers: 1, state, table, 'log-level': 'error' }
      const variables = Object.entries(of.environment).map(([key, value]) => `${key}=${value}`)
      const how = flagsOf({ ...all, 'machine-name': name, ...flags })
      const command = ['env', ...variables, process.execPath, cliProgram, 'serve', ...how] as const
      const started = await startChild(command, {
        timeoutMs: startMs,
        cwd: folder,
        ready: (line) => (line.startsWith('iprisk serves ') ? true : undefined),
      })
      ;({ child } = started)
    },
    kill: () => signal('SIGKILL', pids()),
    freeze: () => signal('SIGSTOP', pids()),
    // Workers first, or their primary would find them hung.
    thaw: () => signal('SIGCONT', pids().toReversed()),
    end: async () => child?.end(),
  }
}

async function statusOf(adminPort: number): Promise<ServerStatus | undefined> {
  try {
    const signal = AbortSignal.timeout(lookMs)
    const response = await fetch(`http://127.0.0.1:${adminPort}/status`, { signal })
    return (await response.json()) as ServerStatus
  } catch {
    return undefined
  }
}
