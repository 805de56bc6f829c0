// Logins through the client while a proxy between it and a real server does everything that goes
// wrong in networks: how long each waited, and whether each that was let in without an answer was
// counted. On a machine whose cores are busy every timer fires late, so the time-out is held
// against another timer of this process.

import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import {
  type Client,
  type ClientCounts,
  failureReasons,
} from '../../../src/client/core/check-result.ts'
import { createClient } from '../../../src/client/node-client.ts'
import type { ProofContext, ProofResult } from '../../harness/proof.ts'
import { startSmallServer } from '../server/served.ts'

const timeoutMs = 150
/** Logins under way at the same time. */
const atOnce = 16
/** Of all faults, one after the other. */
const rounds = 10

const counts = { ci: 400, short: 10_000, long: 100_000 } as const

export async function clientFaults({ folder, form, say }: ProofContext): Promise<ProofResult> {
  const server = await startSmallServer(folder)
  const proxy = await startFaultProxy(server.port)
  const told = { misconfigured: 0, unavailable: 0 }
  const newClient = (circuitFailures: number, coalesce: boolean): Client =>
    createClient({
      url: `http://127.0.0.1:${proxy.port}`,
      key: server.key,
      timeoutMs,
      cacheMs: 0,
      circuitFailures,
      coalesce,
      onMisconfigured: () => (told.misconfigured += 1),
      onUnavailable: () => (told.unavailable += 1),
    })
  // Every other round without the circuit, so that every login meets the fault itself.
  const clients = [true, false].flatMap((coalesce) => [
    newClient(1_000_000, coalesce),
    newClient(5, coalesce),
  ])
  const waits: number[] = []
  /** By how much each waited for longer than the time-out, as a timer of this process has it. */
  const over: number[] = []
  const broken: string[] = []
  let unchecked = 0
  const login = async (client: Client, at: number): Promise<void> => {
    const from = performance.now()
    const atTimeout = new Promise<number>((resolve) => {
      setTimeout(() => resolve(performance.now() - from), timeoutMs)
    })
    try {
      const result = await client.check(`9.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}`)
      if (!result.ok) unchecked += 1
    } catch (error) {
      broken.push(`a login was thrown at: ${String(error)}`)
    }
    const wait = performance.now() - from
    waits.push(wait)
    over.push(wait - (wait > timeoutMs ? await atTimeout : timeoutMs))
  }
  const total = counts[form]
  const each = Math.ceil(total / (rounds * faults.length))
  for (let round = 0; round < rounds; round++) {
    const client = clients[round % clients.length]!
    for (const fault of faults) {
      proxy.fault = fault
      let left = each
      const worker = async (): Promise<void> => {
        while (left > 0) {
          left -= 1
          await login(client, waits.length + left)
        }
      }
      // What sixteen read of it at once stalls this process, in which the proxy runs, too.
      const workers = fault === '60 MB' ? 2 : atOnce
      await Promise.all(Array.from({ length: workers }, worker))
    }
    say(`round ${round + 1} of ${rounds}: ${waits.length} logins`)
  }
  for (const client of clients) client.close()
  await proxy.close()
  await server.end()
  const at = quantileOf(waits)
  const overAt = quantileOf(over)
  const counted = sumOf(clients.map((client) => client.counts()))
  const failures = failureReasons.reduce((sum, reason) => sum + counted[reason], 0)
  if (overAt(0.999) > 20) broken.push(`p99.9 is ${overAt(0.999).toFixed(1)} ms over the time-out`)
  if (overAt(1) > 100) broken.push(`one waited ${overAt(1).toFixed(1)} ms over the time-out`)
  if (failures !== unchecked) broken.push(`${unchecked} unchecked, but ${failures} counted`)
  if (told.misconfigured + told.unavailable !== unchecked) {
    broken.push(`${unchecked} unchecked, but ${told.misconfigured + told.unavailable} told`)
  }
  if (counted.checked + unchecked !== waits.length) broken.push('some logins are not counted')
  return {
    faults: broken,
    facts: {
      'logins under faults': waits.length,
      'of them checked': counted.checked,
      'retried on another connection': counted.retried,
      'the circuit opened': counted.opened,
      ...Object.fromEntries(failureReasons.map((reason) => [reason, counted[reason]])),
      'wait, p50': `${at(0.5).toFixed(2)} ms`,
      'wait, p99.9': `${at(0.999).toFixed(1)} ms`,
      'wait, longest': `${at(1).toFixed(1)} ms`,
      'over the time-out, p99.9': `${Math.max(0, overAt(0.999)).toFixed(1)} ms`,
      'over the time-out, longest': `${Math.max(0, overAt(1)).toFixed(1)} ms`,
    },
  }
}

export function quantileOf(values: readonly number[]): (share: number) => number {
  const sorted = values.toSorted((a, b) => a - b)
  return (share) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
}

function sumOf(all: readonly ClientCounts[]): ClientCounts {
  const names = Object.keys(all[0]!) as (keyof ClientCounts)[]
  return Object.fromEntries(
    names.map((name) => [name, all.reduce((sum, counts) => sum + counts[name], 0)]),
  ) as unknown as ClientCounts
}

export const faults = [
  'none',
  'delay',
  'silence',
  'cut',
  'reset',
  'half',
  '401',
  '429',
  '500',
  '503',
  'garbage',
  '60 MB',
] as const
export type Fault = (typeof faults)[number]

export interface FaultProxy {
  readonly port: number
  /** What happens to requests from now on. */
  fault: Fault
  readonly close: () => Promise<void>
}

/** How late a delayed request is handed on, milliseconds: beyond the time-out of most clients. */
const delayMs = 400

export async function startFaultProxy(port: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true)
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (bytes) => apply(proxy.fault, client, upstream, bytes))
    upstream.on('data', (bytes) => client.write(bytes))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: FaultProxy = {
    port: (server.address() as AddressInfo).port,
    fault: 'none',
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  return proxy
}

function apply(fault: Fault, client: Socket, upstream: Socket, bytes: Buffer): void {
  switch (fault) {
    case 'none':
      upstream.write(bytes)
      return
    case 'delay':
      setTimeout(() => upstream.write(bytes), delayMs)
      return
    case 'silence':
      return
    case 'cut':
      client.end()
      return
    case 'reset':
      client.resetAndDestroy()
      return
    case 'half':
      client.end('HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"classification":')
      return
    case '401':
    case '429':
    case '500':
    case '503':
      client.write(`HTTP/1.1 ${fault} Fault\r\nContent-Length: 2\r\n\r\n{}`)
      return
    case 'garbage':
      client.write(garbage)
      return
    case '60 MB':
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      pour(client, 60 << 4)
      return
  }
}

const garbage = Buffer.from(Array.from({ length: 2000 }, (_, at) => (at * 167 + 13) & 255))
const piece = Buffer.alloc(1 << 16, 'x')

/** In small pieces: proxy and client share a loop, whose turns must stay short. */
function pour(client: Socket, pieces: number): void {
  if (pieces === 0 || client.destroyed) return
  client.write(piece, () => pour(client, pieces - 1))
}
