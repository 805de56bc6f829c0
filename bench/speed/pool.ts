// `npm run bench -- pool`: how much insights and batches slow down plain checks. Rounds alternate:
// plain checks alone, then the same load while insights and batches keep the pool full. Beside
// that, each of the two alone. Server, pool, this program and the load generator share the cores:
// the plain checks' share of them is part of what is measured.
//
//   --seconds 5        of each round
//   --rounds 3
//   --connections 64   of the plain checks
//   --table FILE       the table of the tests, or data/table/world.iprisk, by default
//   --compare-priorities  the mixed rounds also with threads that are only nice, or have the loop's
//                      priority, and with the loop on one core and the threads on the others: what
//                      the product's way gains
//   --smoke            seconds in place of minutes: whether it works, not how fast
//   --json             the report as JSON
//   --save             keep it in bench/runs/
//
// The report goes to standard output, progress to standard error. Exit code 1 where there was an
// error under load.

import { setTimeout as sleep } from 'node:timers/promises'
import { cutBatchBody } from '../../src/pool/batch-body.ts'
import { answerBatchPiece } from '../../src/pool/run-task.ts'
import { takeSharedBuffer } from '../../src/pool/batch-body.ts'
import { answerWithInsights } from '../../src/table/explain/insights.ts'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import { type ThreadCpu, endedCpu, threadCpu, treeCpu } from '../harness/cpu.ts'
import { readFlags, tablePath } from '../harness/option.ts'
import { logProgress, runProgram, showReport, temporaryFolder } from '../harness/program.ts'
import { type RunHead, runHead } from '../harness/run.ts'
import { median } from '../harness/statistics.ts'
import {
  batchRequest,
  batchRequests,
  insightsRequest,
  runBackgroundLoad,
} from './load/background.ts'
import { type LoadRequests, type LoadResult, type LoadRun, errorCount } from './load/load.ts'
import { type PoolPriority, newPoolPrioritySetter, poolPriorities } from './load/pool-priority.ts'
import { batchRequestsOf, insightsRequestsOf, requestsOf } from './load/request.ts'
import { wrkDriver } from './load/wrk.ts'
import { uniformTexts } from './lookups/scenario.ts'
import { partText } from './report/markdown.ts'
import { createBenchKey, startIprisk } from './servers/variant.ts'

/** Cores, two of which there are where two are shared. */
export interface CpuShares {
  readonly loop: number
  readonly pool: number
  /** Garbage collection and the like, in the worker. */
  readonly helpers: number
  /** The load generator of the checks. */
  readonly load: number
  /** The load generators of what fills the pool. */
  readonly clients: number
}

/** Runs a load for a whole number of seconds. */
export type TimedLoad = (seconds: number) => Promise<LoadResult>

export interface FullPoolRound {
  readonly checks: LoadResult
  readonly insights: LoadResult
  readonly batches: LoadResult
  /** `undefined` where the system does not tell. */
  readonly shares: CpuShares | undefined
}

/**
 * What fills the pool begins before the checks and ends after them: their generator gets ready on
 * busy cores. Both together are whole seconds.
 */
const leadMs = 500
const lagMs = 2500

/** Throws where the pool was not full to the end of the checks. `worker` is the pool's process. */
export async function runBesideFullPool(
  worker: number | undefined,
  loads: Readonly<Record<'checks' | 'insights' | 'batches', TimedLoad>>,
  seconds: number,
): Promise<FullPoolRound> {
  const longer = seconds + (leadMs + lagMs) / 1000
  const filling = [loads.insights(longer), loads.batches(longer)] as const
  let isFull = true
  const notFull = (): void => void (isFull = false)
  for (const one of filling) one.then(notFull, notFull)
  const measuring = async () => {
    await sleep(leadMs)
    const [before, fromMs] = [readCpu(worker), performance.now()]
    const checks = await loads.checks(seconds)
    if (!isFull) throw new Error('What fills the pool ended before the checks did.')
    const [after, toMs] = [readCpu(worker), performance.now()]
    return { checks, before, after, tookMs: toMs - fromMs }
  }
  const [measured, insights, batches] = await Promise.all([measuring(), ...filling])
  const { checks, before, after, tookMs } = measured
  const last = readCpu(worker)
  if (before === undefined || after === undefined || last === undefined) {
    return { checks, insights, batches, shares: undefined }
  }
  const of = (name: keyof Cpu): number => (after[name] - before[name]) / 1000 / tookMs
  const clients = (last.ended - after.ended) / 1e6 / longer
  const shares = { loop: of('loop'), pool: of('pool'), helpers: of('other'), load: of('ended') }
  return { checks, insights, batches, shares: { ...shares, clients } }
}

/** Microseconds so far. */
interface Cpu extends ThreadCpu {
  /** Of load generators that have ended. */
  readonly ended: number
}

function readCpu(worker: number | undefined): Cpu | undefined {
  const threads = worker === undefined ? undefined : threadCpu(worker)
  const ended = endedCpu()
  return threads === undefined || ended === undefined ? undefined : { ...threads, ended }
}

const batchSize = 10_000
const insightClients = 16
const batchClients = 2
/** What of an insight or a batch beside a full pool takes longer is an error. */
const slowSeconds = 30

interface Round {
  readonly requestsPerSecond: number
  readonly p99Ms: number
}

export interface PoolReport extends RunHead {
  readonly kind: 'pool'
  readonly table: string
  readonly alone: readonly Round[]
  readonly mixed: readonly Round[]
  /** The same with the pool's threads arranged otherwise; where that was asked for and can be. */
  readonly arranged?: readonly (Round & { readonly arrangement: PoolPriority })[]
  /** Of the mixed rounds together. */
  readonly insightsPerSecond: number
  readonly addressesPerSecond: number
  readonly errors: number
  /** Who had the cores in the mixed rounds, cores each; where the system tells. */
  readonly shares: CpuShares | undefined
  readonly insightsAlone: { readonly p50Ms: number; readonly p99Ms: number }
  readonly batchAlone: { readonly addressesPerSecond: number }
  /** In this process, without server and network. */
  readonly inProcess: {
    readonly addressesPerSecond: number
    readonly insightsP50Ms: number
    readonly insightsP99Ms: number
  }
}

function readOptions() {
  const { smoke, ...flags } = readFlags({
    numbers: {
      seconds: { max: 3600, otherwise: 5, smoke: 1 },
      rounds: { max: 100, otherwise: 3, smoke: 1 },
      connections: { max: 10_000, otherwise: 64 },
    },
    texts: ['table'],
    switches: ['smoke', 'compare-priorities', 'json', 'save'],
  })
  return {
    ...flags,
    arrangements: flags['compare-priorities'] ? poolPriorities : [],
    insights: smoke ? 100 : 2000,
    table: tablePath(flags.table),
  }
}

type Options = ReturnType<typeof readOptions>

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

/** Batches and insights by the same code, here, on one core. */
function measureHere(
  table: OpenTable,
  addresses: readonly string[],
  insights: number,
): PoolReport['inProcess'] {
  const body = new TextEncoder().encode(batchRequest(addresses.slice(0, batchSize)).body)
  const slab = takeSharedBuffer()
  const rates = Array.from({ length: 7 }, () => {
    const from = performance.now()
    const { cuts } = cutBatchBody(body)
    for (let i = 1; i < cuts.length; i++) {
      answerBatchPiece(table, body.subarray(cuts[i - 1], cuts[i]), { into: slab })
    }
    return (Math.min(batchSize, addresses.length) / (performance.now() - from)) * 1000
  })
  const times = Array.from({ length: insights }, (_, i) => {
    const from = performance.now()
    JSON.stringify(answerWithInsights({ ...table, builtMs: 0 }, addresses[i % addresses.length]!))
    return performance.now() - from
  }).toSorted((a, b) => a - b)
  return {
    addressesPerSecond: median(rates),
    insightsP50Ms: at(times, 0.5),
    insightsP99Ms: at(times, 0.99),
  }
}

/** There is one; it began behind its primary. */
function workerOf(root: number): number | undefined {
  return treeCpu(root)?.pids.find((pid) => pid !== root)
}

function roundOf({ requests, seconds, latencyUs }: LoadResult): Round {
  return { requestsPerSecond: requests / seconds, p99Ms: latencyUs.p99 / 1000 }
}

async function measure(options: Options, table: OpenTable, folder: string): Promise<PoolReport> {
  const { seconds, rounds, connections } = options
  const addresses = uniformTexts(table.reader.views, 100_000)
  const inProcess = measureHere(table, addresses, options.insights)
  logProgress(`in process: ${inProcess.addressesPerSecond.toFixed(0)} addresses/s`)
  const key = await createBenchKey(folder)
  const server = await startIprisk({ workers: 1, cores: undefined, folder, table: table.path })
  try {
    const { port, pid } = server
    const driver = wrkDriver()
    const requests = requestsOf(key, addresses)
    const loadOf = (
      asked: LoadRequests,
      how: Pick<LoadRun, 'connections' | 'timeoutSeconds'>,
    ): TimedLoad => {
      const load = driver.prepare(asked, folder)
      return (seconds) => load({ port, seconds, threads: 1, cores: undefined, ...how })
    }
    const loads = {
      checks: loadOf(requests, { connections }),
      insights: loadOf(insightsRequestsOf(requests), {
        connections: insightClients,
        timeoutSeconds: slowSeconds,
      }),
      batches: loadOf(batchRequestsOf(requests, batchSize), {
        connections: batchClients,
        timeoutSeconds: slowSeconds,
      }),
    }
    const never = new AbortController().signal
    const slow = { port, key, signal: never }
    // Warms the server, and one client after the other.
    await loads.checks(seconds)
    const idle = await runBackgroundLoad({
      ...slow,
      clients: 1,
      asked: addresses.slice(0, 10_000).map(insightsRequest),
      limit: options.insights,
    })
    const batch = await runBackgroundLoad({
      ...slow,
      clients: batchClients,
      asked: batchRequests(addresses, batchSize),
      limit: seconds * 20,
    })
    const alone: Round[] = []
    const mixed: Round[] = []
    const arranged: (Round & { readonly arrangement: PoolPriority })[] = []
    // Its pool has started with the batches before.
    const worker = workerOf(pid)
    const arrange = newPoolPrioritySetter(worker ?? pid)
    let shares: CpuShares | undefined
    const sums = { insights: 0, addresses: 0, errors: idle.errors + batch.errors }
    const fill = async (): Promise<FullPoolRound> => {
      const full = await runBesideFullPool(worker, loads, seconds)
      for (const { errors } of [full.checks, full.insights, full.batches]) {
        sums.errors += errorCount(errors)
      }
      return full
    }
    for (let round = 0; round < rounds; round++) {
      const plain = await loads.checks(seconds)
      sums.errors += errorCount(plain.errors)
      alone.push(roundOf(plain))
      const { checks, insights, batches, shares: last } = await fill()
      shares = last ?? shares
      mixed.push(roundOf(checks))
      sums.insights += insights.requests / insights.seconds
      sums.addresses += (batches.requests * batchSize) / batches.seconds
      for (const arrangement of options.arrangements) {
        const undo = arrange(arrangement)
        if (undo === undefined) continue
        try {
          arranged.push({ arrangement, ...roundOf((await fill()).checks) })
        } finally {
          undo()
        }
      }
      const [first, full] = [alone.at(-1)!, mixed.at(-1)!]
      logProgress(
        `round ${round + 1}: alone ${first.requestsPerSecond.toFixed(0)}/s, ` +
          `mixed ${full.requestsPerSecond.toFixed(0)}/s, p99 ${full.p99Ms.toFixed(2)} ms`,
      )
    }
    return {
      ...runHead(process.argv.slice(2)),
      kind: 'pool',
      table: table.id,
      alone,
      mixed,
      ...(arranged.length === 0 ? {} : { arranged }),
      insightsPerSecond: sums.insights / rounds,
      addressesPerSecond: sums.addresses / rounds,
      errors: sums.errors,
      shares,
      insightsAlone: { p50Ms: at(idle.milliseconds, 0.5), p99Ms: at(idle.milliseconds, 0.99) },
      batchAlone: { addressesPerSecond: (batch.answers * batchSize) / batch.seconds },
      inProcess,
    }
  } finally {
    await server.end()
  }
}

async function main(): Promise<number> {
  const options = readOptions()
  const folder = temporaryFolder('pool')
  const table = openTable(options.table)
  try {
    const report = await measure(options, table, folder)
    showReport('pool', report, { ...options, text: partText('pool', report) })
    return report.errors === 0 ? 0 : 1
  } finally {
    table.close()
  }
}

await runProgram(main)
