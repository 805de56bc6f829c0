// Insights and batches as a load of their own, from this process: so many clients that each ask
// again as soon as they are answered. What they measure is what their clients see.

import { Agent, request } from 'node:http'
import { paths } from '../../../src/api/public-port.ts'

export interface BackgroundRequest {
  readonly path: string
  readonly body: string
}

export interface BackgroundResult {
  readonly answers: number
  readonly errors: number
  readonly bytes: number
  readonly seconds: number
  /** Ascending. */
  readonly milliseconds: readonly number[]
}

export const insightsPath = `${paths.check}?include=insights`

export function insightsRequest(address: string): BackgroundRequest {
  return { path: insightsPath, body: JSON.stringify({ ip: address }) }
}

export function batchRequest(addresses: readonly string[]): BackgroundRequest {
  return { path: paths.batch, body: JSON.stringify({ ips: addresses }) }
}

/** All of them in batches of `size`; what is left over is in none. */
export function batchRequests(
  addresses: readonly string[],
  size: number,
): readonly BackgroundRequest[] {
  return Array.from({ length: Math.floor(addresses.length / size) }, (_, i) =>
    batchRequest(addresses.slice(i * size, (i + 1) * size)),
  )
}

/** Runs until `signal` says so, or until `limit` answers. */
export async function runBackgroundLoad(options: {
  readonly port: number
  readonly key: string
  readonly clients: number
  /** In turn, for ever. */
  readonly asked: readonly BackgroundRequest[]
  readonly signal: AbortSignal
  readonly limit?: number
}): Promise<BackgroundResult> {
  const { port, key, clients, asked, signal, limit = Infinity } = options
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const milliseconds: number[] = []
  let errors = 0
  let bytes = 0
  let next = 0
  const startedMs = performance.now()
  const client = async (): Promise<void> => {
    while (!signal.aborted && next < limit) {
      const one = asked[next % asked.length]!
      next += 1
      const from = performance.now()
      const answer = await ask({ agent, port, key, one })
      if (answer === undefined) errors += 1
      else bytes += answer
      milliseconds.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const seconds = (performance.now() - startedMs) / 1000
  agent.destroy()
  milliseconds.sort((a, b) => a - b)
  return { answers: milliseconds.length - errors, errors, bytes, seconds, milliseconds }
}

/** Bytes of the answer; `undefined` for anything but a whole 200. */
function ask(options: {
  readonly agent: Agent
  readonly port: number
  readonly key: string
  readonly one: BackgroundRequest
}): Promise<number | undefined> {
  const { agent, port, key, one } = options
  return new Promise((resolve) => {
    const outgoing = request(
      {
        agent,
        port,
        host: '127.0.0.1',
        path: one.path,
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-length': Buffer.byteLength(one.body) },
      },
      (incoming) => {
        let bytes = 0
        incoming.on('data', (chunk: Buffer) => {
          bytes += chunk.length
        })
        incoming.on('error', () => resolve(undefined))
        incoming.on('end', () => resolve(incoming.statusCode === 200 ? bytes : undefined))
      },
    )
    outgoing.on('error', () => resolve(undefined))
    outgoing.end(one.body)
  })
}
