// The memory of a server under everything at once: checks, insights, batches, and batches whose
// clients go away in the middle. What one worker has written and shares with nobody is looked at
// each second; after a third of the time, in which heaps and caches find their size, it must not
// grow. Heaps rise until they are collected: compared is the least of each part of the time.

import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { paths } from '../../../src/api/public-port.ts'
import { openTable } from '../../../src/table/open-table.ts'
import {
  type BackgroundRequest,
  type BackgroundResult,
  batchRequests,
  insightsRequest,
  runBackgroundLoad,
} from '../../speed/load/background.ts'
import { treeCpu } from '../../harness/cpu.ts'
import { tablePath } from '../../harness/option.ts'
import { uniformTexts } from '../../speed/lookups/scenario.ts'
import { memoryOf } from '../../harness/smaps.ts'
import { cutInParts, slopeOf } from '../../harness/statistics.ts'
import { createBenchKey, startIprisk } from '../../speed/servers/variant.ts'
import type { ProofContext, ProofResult } from '../../harness/proof.ts'

const seconds = { ci: 10, short: 120, long: 600 } as const

/** Of the time after the first third, the parts whose least memory is compared. */
const parts = 10

/**
 * From the first of them to the last: in so little time as the short form has, heaps still settle.
 */
const growthMax = 1.15
const growthBytes = 16e6

/**
 * In the long form, a minute. Its least memory rose by 0.74 MB a minute over ten minutes, with
 * 122,000 requests in each of them (docs/proof/mixed-memory.long.json): six bytes of each, in which
 * heaps still settle, for nobody has them collect here. A leak of one object of 16 bytes a request
 * would be 2 MB.
 */
const slopeBytesMax = 1e6

const batchSize = 5000

export async function mixedMemory(context: ProofContext): Promise<ProofResult> {
  const { form, folder, say } = context
  const table = openTable(tablePath(context.table))
  const addresses = uniformTexts(table.reader.views, 50_000)
  table.close()
  const key = await createBenchKey(folder)
  const server = await startIprisk({ workers: 1, cores: undefined, folder, table: table.path })
  const end = new AbortController()
  try {
    const batches = batchRequests(addresses, batchSize)
    const load = { port: server.port, key, signal: end.signal }
    const check = (ip: string): BackgroundRequest => ({
      path: paths.check,
      body: JSON.stringify({ ip }),
    })
    const loads = [
      runBackgroundLoad({ ...load, clients: 8, asked: addresses.map(check) }),
      runBackgroundLoad({
        ...load,
        clients: 4,
        asked: addresses.slice(0, 10_000).map(insightsRequest),
      }),
      runBackgroundLoad({ ...load, clients: 2, asked: batches }),
    ]
    const leavers = leave({ port: server.port, key, asked: batches[0]!, signal: end.signal })
    const samples = await watch(server.pid, seconds[form], say)
    end.abort()
    const results = await Promise.all(loads)
    return resultOf(form, samples, { results, left: await leavers })
  } finally {
    end.abort()
    await server.end()
  }
}

/** Bytes of the worker, each second. */
async function watch(
  root: number,
  forSeconds: number,
  say: ProofContext['say'],
): Promise<readonly number[]> {
  const worker = treeCpu(root)?.pids.find((pid) => pid !== root)
  if (worker === undefined) throw new Error('The server has no worker.')
  const samples: number[] = []
  while (samples.length < forSeconds) {
    await sleep(1000)
    samples.push(memoryOf(worker, '.iprisk').privateDirty)
    if (samples.length % 30 === 0) say(`${samples.length} s: ${megabytes(samples.at(-1) ?? 0)}`)
  }
  return samples
}

/** Clients that ask for a batch and go away when its answer begins; how many there were. */
async function leave(options: {
  readonly port: number
  readonly key: string
  readonly asked: BackgroundRequest
  readonly signal: AbortSignal
}): Promise<number> {
  const { port, key, asked, signal } = options
  const { path, body } = asked
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n`
  let left = 0
  while (!signal.aborted) {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
    await new Promise((resolve) => {
      socket.once('data', resolve)
      socket.once('error', resolve)
      socket.once('close', resolve)
    })
    socket.resetAndDestroy()
    left += 1
    await sleep(100)
  }
  return left
}

function resultOf(
  form: ProofContext['form'],
  samples: readonly number[],
  load: { readonly results: readonly BackgroundResult[]; readonly left: number },
): ProofResult {
  const third = Math.floor(samples.length / 3)
  const kept = samples.map((bytes, second) => [second / 60, bytes] as const).slice(third)
  const least = cutInParts(kept, parts).map(
    (part) => [part[0]![0], Math.min(...part.map(([, bytes]) => bytes))] as const,
  )
  const early = least[0]![1]
  const late = least.at(-1)![1]
  const slope = slopeOf(least)
  const errors = load.results.reduce((sum, one) => sum + one.errors, 0)
  const names = ['checks', 'insights', `batches of ${batchSize}`]
  const grown = late > early * growthMax + growthBytes || (form === 'long' && slope > slopeBytesMax)
  return {
    facts: {
      'seconds under load': samples.length,
      ...Object.fromEntries(
        load.results.map(({ answers }, i) => [`${names[i] ?? ''} answered`, answers]),
      ),
      'batches whose client went away': load.left,
      'least private memory of the worker, first and last tenth after the first third': `${megabytes(early)}, ${megabytes(late)}`,
      'its slope': `${(slope / 1e3).toFixed(1)} kB a minute`,
      'private memory of the worker, most': megabytes(Math.max(...samples)),
    },
    faults: [
      ...(grown ? [`memory grows: from ${megabytes(early)} to ${megabytes(late)}`] : []),
      ...(errors > 0 ? [`${errors} requests failed`] : []),
    ],
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
