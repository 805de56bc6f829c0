// Load at a fixed rate whatever the answers do (an open loop), by the C program peer/steady.c: what
// clients wait that do not wait for each other. Needs gcc; there is no other generator for it here.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runChild } from '../../harness/child.ts'
import { type LoadRequests, driverMarginMs } from './load.ts'
import { type Available, compileProgram } from '../../harness/c/compile-c.ts'
import { pinned } from './pin.ts'
import { partsOf } from './request.ts'

export interface SteadyRun {
  readonly port: number
  readonly connections: number
  /** Requests a second. */
  readonly rate: number
  readonly seconds: number
  readonly core: number | undefined
}

export interface SteadyResult {
  readonly sent: number
  readonly answered: number
  /** Answers other than 200. */
  readonly status: number
  /** Never sent, never answered, or not understood. */
  readonly broken: number
  readonly seconds: number
  /** Microseconds since a request was due. */
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
  /** Lower edge in microseconds, and how many. */
  readonly histogram: readonly (readonly [number, number])[]
}

export type SteadyDriver = (run: SteadyRun) => Promise<SteadyResult>

/** As many as a file of some megabytes holds; they are asked in turn. */
const requestsMax = 50_000

/** The generator for one variant's requests, or why it cannot be had. */
export function newSteadyDriver(requests: LoadRequests, folder: string): Available<SteadyDriver> {
  const program = compileProgram('steady', folder)
  if ('reason' in program) return program
  const file = join(folder, `requests-${requests.carrier}.bin`)
  writeFileSync(file, encodeRequests(requests))
  return {
    value: async ({ port, connections, rate, seconds, core }) => {
      const command = [program.value, port, connections, rate, seconds, file].map(String)
      const [name = '', ...args] = command
      const cores = core === undefined ? undefined : [core]
      const output = await runChild(pinned(cores, [name, ...args]), {
        timeoutMs: seconds * 1000 + driverMarginMs,
      })
      return JSON.parse(output) as SteadyResult
    },
  }
}

/** Whole requests, each with its length in front. */
export function encodeRequests(requests: LoadRequests): Buffer {
  return Buffer.concat(
    requests.addresses.slice(0, requestsMax).flatMap((address) => {
      const { method, headers, body } = partsOf(requests, address)
      const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const lines = Object.entries({ host: '127.0.0.1', ...headers, ...length }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      )
      const text = `${method} ${requests.path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
      const head = Buffer.alloc(4)
      head.writeUInt32LE(Buffer.byteLength(text))
      return [head, Buffer.from(text)]
    }),
  )
}
