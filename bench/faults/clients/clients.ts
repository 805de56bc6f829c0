// Clients for proofs of a running server (clients-main.ts): started, asked what they have seen,
// ended.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { packageRoot } from '../../../src/base/package-root.ts'

const program = join(packageRoot, 'dist/bench/faults/clients/clients-main.js')

interface Pace {
  readonly clients: number
  /** Requests, of all of them together. */
  readonly perSecond: number
}

export interface ClientsSettings {
  readonly port: number
  readonly key: string
  /** The check's by default. */
  readonly path?: string
  readonly kept: Pace
  readonly oneShot: Pace
  readonly timeoutMs: number
  /** Requests are sent in two halves, so far from each other; at once without it. */
  readonly gapMs?: number
}

/** Spans of time, milliseconds since the epoch, that are looked at together. */
export interface TimeSpan {
  readonly windows: readonly (readonly [from: number, to: number])[]
}

/** Latencies in milliseconds. */
export interface Quantiles {
  readonly requests: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

export interface ClientsReport {
  /** Answered with 200. */
  readonly requests: number
  /** Connections that were open and are not any more. */
  readonly closed: number
  /** By what happened: `in flight (used) ECONNRESET`, `connect ECONNREFUSED`, `status 503`. */
  readonly errors: Readonly<Record<string, number>>
  /** Of each error: when its connection was begun, milliseconds since the epoch. */
  readonly begunMs: readonly number[]
  /** Of the requests sent in each span. */
  readonly quantiles: readonly Quantiles[]
}

export interface Clients {
  readonly pid: number
  readonly look: (spans?: readonly TimeSpan[]) => Promise<ClientsReport>
  readonly end: (spans?: readonly TimeSpan[]) => Promise<ClientsReport>
}

/**
 * A load that two cores hardly feel: what is proved is that nothing is lost, not how much passes.
 */
export const gentleLoad = {
  kept: { clients: 32, perSecond: 800 },
  oneShot: { clients: 8, perSecond: 100 },
  timeoutMs: 10_000,
} as const

export function startClients(settings: ClientsSettings): Clients {
  const child = fork(program, [JSON.stringify(settings)])
  const ask = async (kind: 'look' | 'end', spans: readonly TimeSpan[]): Promise<ClientsReport> => {
    const answer = once(child, 'message')
    child.send({ kind, spans })
    const [report] = (await answer) as [ClientsReport]
    return report
  }
  return {
    pid: child.pid ?? 0,
    look: (spans = []) => ask('look', spans),
    end: async (spans = []) => {
      const ended = once(child, 'exit')
      const report = await ask('end', spans)
      await ended
      return report
    },
  }
}

/** Milliseconds since the epoch, finely. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now()
}

export function clientErrorCount({ errors }: ClientsReport): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0)
}

/** `3 × in flight (new) ECONNRESET, …`, or `0`. */
export function errorText({ errors }: ClientsReport): string {
  const parts = Object.entries(errors).map(([what, count]) => `${count} × ${what}`)
  return parts.length === 0 ? '0' : parts.join(', ')
}
