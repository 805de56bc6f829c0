// The load generator autocannon, for where wrk is not installed. It is JavaScript and slower than
// the server that it loads: it finds faults, and its figures say little about a server's peak.
//
// Its varied requests come from a HAR file (HTTP Archive 1.2), its result is one line of JSON.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { IpriskError } from '../../../src/base/coded-error.ts'
import { flagsOf, runChild } from '../../harness/child.ts'
import { type LoadDriver, type LoadRequests, type LoadResult, driverMarginMs } from './load.ts'
import { pinned } from './pin.ts'
import { partsOf } from './request.ts'

/** It builds every request for every connection before it starts; more would take it long. */
const addressesMax = 500

/** The requests of the HAR file: of each only what autocannon reads. */
function harText(requests: LoadRequests, port: number): string {
  const entries = requests.addresses.slice(0, addressesMax).map((address) => {
    const { method, headers, body } = partsOf(requests, address)
    return {
      request: {
        method,
        url: `http://127.0.0.1:${port}${requests.path}`,
        headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
        ...(body === '' ? {} : { postData: { mimeType: 'application/json', text: body } }),
      },
    }
  })
  return JSON.stringify({ log: { version: '1.2', entries } })
}

interface AutocannonJson {
  readonly duration: number
  readonly requests: { readonly total: number }
  readonly latency: Readonly<Record<'p50' | 'p99' | 'p99_9' | 'max', number>>
  readonly non2xx: number
  readonly errors: number
  readonly timeouts: number
}

/** Throws `autocannon_output`. Its latencies are whole milliseconds; its `errors` hold timeouts. */
export function parseAutocannon(output: string): LoadResult {
  const line = output.split('\n').find((text) => text.startsWith('{'))
  if (line === undefined) {
    throw new IpriskError({
      code: 'autocannon_output',
      message: `autocannon printed no result: ${output.slice(-500)}`,
      fault: 'environment',
    })
  }
  const { duration, requests, latency, non2xx, errors, timeouts } = JSON.parse(
    line,
  ) as AutocannonJson
  return {
    requests: requests.total,
    seconds: duration,
    latencyUs: {
      p50: latency.p50 * 1000,
      p99: latency.p99 * 1000,
      p999: latency.p99_9 * 1000,
      max: latency.max * 1000,
    },
    errors: { status: non2xx, connect: 0, read: errors - timeouts, write: 0, timeout: timeouts },
  }
}

/** `undefined` where it is not installed (it is a development dependency). */
export function autocannonDriver(): LoadDriver | undefined {
  let program: string
  try {
    program = fileURLToPath(import.meta.resolve('autocannon'))
  } catch {
    return undefined
  }
  return {
    name: 'autocannon',
    prepare:
      (requests, folder) =>
      async ({ port, seconds, connections, cores, timeoutSeconds = 2 }) => {
        const har = join(mkdtempSync(join(folder, 'autocannon-')), 'requests.har')
        writeFileSync(har, harText(requests, port))
        const command = pinned(cores, [
          process.execPath,
          program,
          ...flagsOf({ connections, duration: seconds, timeout: timeoutSeconds, har }),
          '--json',
          '--no-progress',
          `http://127.0.0.1:${port}`,
        ])
        return parseAutocannon(
          await runChild(command, { timeoutMs: seconds * 1000 + driverMarginMs }),
        )
      },
  }
}
