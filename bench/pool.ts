// `npm run bench:pool`: what insights and batches cost those who only check. Rounds alternate: plain
// checks alone, then the same load while insights and batches keep the pool full. Beside that, each
// of the two alone. Server, pool, this program and the load generator share the cores: the plain
// checks' share of them is part of what is measured.
//
//   --seconds 5        of each round
//   --rounds 3
//   --connections 64   of the plain checks
//   --table FILE       the table of the tests, or data/table/world.iprisk, by default
//   --smoke            seconds in place of minutes: whether it works, not how fast
//   --json             the report as JSON
//   --save             keep it in bench/runs/
//
// The report goes to standard output, progress to standard error. Exit code 1 where there was an
// error under load.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { alignColumns } from '../src/base/column.ts'
import { cutBatch } from '../src/pool/batch.ts'
import { takeSlab } from '../src/pool/slab.ts'
import { answerPiece } from '../src/pool/work.ts'
import { explain } from '../src/table/insights.ts'
import { type OpenTable, openTable } from '../src/table/open.ts'
import { announcedSpace } from './announced.ts'
import {
  type Asked,
  type BackgroundResult,
  batchFor,
  insightsFor,
  runBackground,
} from './background.ts'
import { endedCpu, threadCpu, treeCpu } from './cpu.ts'
import { chooseDriver } from './driver.ts'
import { errorCount } from './load.ts'
import { tablePath, wholeOption } from './option.ts'
import { runProgram, say } from './program.ts'
import { requestsOf } from './request.ts'
import { type RunHead, runHead, saveRun } from './run.ts'
import { defaultSeed, drawAddresses, scenarioNamed } from './scenario.ts'
import { median } from './statistics.ts'
import { createKey, startIprisk } from './variant.ts'

const batchSize = 10_000
const insightClients = 16
const batchClients = 2

interface Round {
  readonly requestsPerSecond: number
  readonly p99Ms: number
}

/** Cores, two of which there are where two are shared. */
export interface Shares {
  readonly loop: number
  readonly pool: number
  /** Garbage collection and the like, in the worker. */
  readonly helpers: number
  /** The load generator of the checks. */
  readonly load: number
  /** This process: the clients of insights and batches. */
  readonly clients: number
}

export interface PoolReport extends RunHead {
  readonly kind: 'pool'
  readonly table: string
  readonly alone: readonly Round[]
  readonly mixed: readonly Round[]
  /** Of the mixed rounds together. */
  readonly insightsPerSecond: number
  readonly addressesPerSecond: number
  readonly errors: number
  /** Who had the cores in the mixed rounds, cores each; where the system tells. */
  readonly shares: Shares | undefined
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
  const text = { type: 'string' } as const
  const on = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    options: {
      seconds: text,
      rounds: text,
      connections: text,
      table: text,
      smoke: on,
      json: on,
      save: on,
    },
  })
  const { smoke, json, save } = values
  return {
    seconds: wholeOption('seconds', values.seconds, {
      min: 1,
      max: 3600,
      otherwise: smoke ? 1 : 5,
    }),
    rounds: wholeOption('rounds', values.rounds, { min: 1, max: 100, otherwise: smoke ? 1 : 3 }),
    connections: wholeOption('connections', values.connections, {
      min: 1,
      max: 10_000,
      otherwise: 64,
    }),
    insights: smoke ? 100 : 2000,
    table: tablePath(values.table),
    json,
    save,
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
  const body = new TextEncoder().encode(batchFor(addresses.slice(0, batchSize)).body)
  const slab = takeSlab()
  const rates = Array.from({ length: 7 }, () => {
    const from = performance.now()
    const { cuts } = cutBatch(body)
    for (let i = 1; i < cuts.length; i++) {
      answerPiece(table, body.subarray(cuts[i - 1], cuts[i]), slab)
    }
    return (Math.min(batchSize, addresses.length) / (performance.now() - from)) * 1000
  })
  const times = Array.from({ length: insights }, (_, i) => {
    const from = performance.now()
    JSON.stringify(explain({ ...table, builtMs: 0 }, addresses[i % addresses.length]!))
    return performance.now() - from
  }).toSorted((a, b) => a - b)
  return {
    addressesPerSecond: median(rates),
    insightsP50Ms: at(times, 0.5),
    insightsP99Ms: at(times, 0.99),
  }
}

/** The processor time so far of everybody who shares the cores, microseconds. */
function readShares(root: number): Shares | undefined {
  const worker = treeCpu(root)?.pids.find((pid) => pid !== root)
  const threads = worker === undefined ? undefined : threadCpu(worker)
  const load = endedCpu()
  if (threads === undefined || load === undefined) return undefined
  const { user, system } = process.cpuUsage()
  const { loop, pool, other } = threads
  return { loop, pool, helpers: other, load, clients: user + system }
}

function cores(from: Shares | undefined, to: Shares | undefined, seconds: number) {
  if (from === undefined || to === undefined) return undefined
  const of = (name: keyof Shares): number => (to[name] - from[name]) / 1e6 / seconds
  return {
    loop: of('loop'),
    pool: of('pool'),
    helpers: of('helpers'),
    load: of('load'),
    clients: of('clients'),
  }
}

/** A load of its own that runs for as long as `work` does. */
async function beside<T>(
  loads: readonly Omit<Parameters<typeof runBackground>[0], 'signal'>[],
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly background: readonly BackgroundResult[] }> {
  const end = new AbortController()
  const running = loads.map((load) => runBackground({ ...load, signal: end.signal }))
  try {
    const result = await work()
    end.abort()
    return { result, background: await Promise.all(running) }
  } finally {
    end.abort()
  }
}

async function measure(options: Options, table: OpenTable, folder: string): Promise<PoolReport> {
  const { seconds, rounds, connections } = options
  const space = announcedSpace(table.reader.views, 4)
  const draw = { space, count: 100_000, seed: defaultSeed }
  const addresses = drawAddresses(scenarioNamed('ipv4-uniform')!, draw).texts
  const inProcess = measureHere(table, addresses, options.insights)
  say(`in process: ${inProcess.addressesPerSecond.toFixed(0)} addresses/s`)
  const key = await createKey(folder)
  const server = await startIprisk({ workers: 1, cores: undefined, folder, table: table.path })
  try {
    const { port } = server
    const load = chooseDriver('wrk').prepare(requestsOf(key, addresses), folder)
    const insights: Asked[] = addresses.slice(0, 10_000).map(insightsFor)
    const batches: Asked[] = Array.from({ length: 10 }, (_, i) =>
      batchFor(addresses.slice(i * batchSize, (i + 1) * batchSize)),
    )
    const insightLoad = { port, key, clients: insightClients, asked: insights }
    const batchLoad = { port, key, clients: batchClients, asked: batches }
    const plain = async (): Promise<Round & { readonly errors: number }> => {
      const run = { port, seconds, connections, threads: 1, cores: undefined }
      const { requests, seconds: took, latencyUs, errors } = await load(run)
      return {
        requestsPerSecond: requests / took,
        p99Ms: latencyUs.p99 / 1000,
        errors: errorCount(errors),
      }
    }
    const never = new AbortController().signal
    // Warms the server, and one client after the other.
    await plain()
    const idle = await runBackground({
      ...insightLoad,
      clients: 1,
      limit: options.insights,
      signal: never,
    })
    const batch = await runBackground({ ...batchLoad, limit: seconds * 20, signal: never })
    const alone: Round[] = []
    const mixed: Round[] = []
    let shares: Shares | undefined
    const sums = { insights: 0, addresses: 0, errors: idle.errors + batch.errors, seconds: 0 }
    for (let round = 0; round < rounds; round++) {
      const { errors, ...first } = await plain()
      alone.push(first)
      const before = readShares(server.pid)
      const from = performance.now()
      const { result, background } = await beside([insightLoad, batchLoad], plain)
      shares = cores(before, readShares(server.pid), (performance.now() - from) / 1000)
      mixed.push({ requestsPerSecond: result.requestsPerSecond, p99Ms: result.p99Ms })
      const [ofInsights, ofBatches] = background
      sums.errors += errors + result.errors + ofInsights!.errors + ofBatches!.errors
      sums.insights += ofInsights!.answers / ofInsights!.seconds
      sums.addresses += (ofBatches!.answers * batchSize) / ofBatches!.seconds
      say(
        `round ${round + 1}: alone ${first.requestsPerSecond.toFixed(0)}/s, ` +
          `mixed ${result.requestsPerSecond.toFixed(0)}/s, p99 ${result.p99Ms.toFixed(2)} ms`,
      )
    }
    return {
      ...runHead(process.argv.slice(2)),
      kind: 'pool',
      table: table.id,
      alone,
      mixed,
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

function textOf(report: PoolReport): string {
  const rates = (rounds: readonly Round[]): number =>
    median(rounds.map((round) => round.requestsPerSecond))
  const p99 = (rounds: readonly Round[]): number => median(rounds.map(({ p99Ms }) => p99Ms))
  const ratio = rates(report.mixed) / rates(report.alone)
  const rows = [
    ['plain checks', 'requests/s', 'p99 ms'],
    ['alone', rates(report.alone).toFixed(0), p99(report.alone).toFixed(2)],
    ['beside a full pool', rates(report.mixed).toFixed(0), p99(report.mixed).toFixed(2)],
  ]
  return [
    ...alignColumns(rows, 1),
    '',
    `ratio ${ratio.toFixed(2)}; meanwhile ${report.insightsPerSecond.toFixed(0)} insights/s and ` +
      `${report.addressesPerSecond.toFixed(0)} batch addresses/s; ${report.errors} errors`,
    ...sharesText(report.shares),
    `insights, one client: p50 ${report.insightsAlone.p50Ms.toFixed(2)} ms, ` +
      `p99 ${report.insightsAlone.p99Ms.toFixed(2)} ms`,
    `batches over HTTP: ${report.batchAlone.addressesPerSecond.toFixed(0)} addresses/s`,
    `in process: ${report.inProcess.addressesPerSecond.toFixed(0)} addresses/s, insights p50 ` +
      `${report.inProcess.insightsP50Ms.toFixed(2)} ms, p99 ${report.inProcess.insightsP99Ms.toFixed(2)} ms`,
  ].join('\n')
}

function sharesText(shares: Shares | undefined): readonly string[] {
  if (shares === undefined) return []
  const { loop, pool, helpers, load, clients } = shares
  const parts = Object.entries({ loop, pool, helpers, load, clients })
  return [`cores: ${parts.map(([name, value]) => `${name} ${value.toFixed(2)}`).join(', ')}`]
}

async function main(): Promise<number> {
  const options = readOptions()
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const table = openTable(options.table)
  try {
    const report = await measure(options, table, folder)
    process.stdout.write(`${options.json ? JSON.stringify(report) : textOf(report)}\n`)
    if (options.save) say(`kept in ${saveRun(report, 'pool')}`)
    return report.errors === 0 ? 0 : 1
  } finally {
    table.close()
  }
}

await runProgram(main)
