// `npm run bench -- http`: the real clustered server beside a bare uWebSockets.js with a constant
// answer and its peers (nginx with geoip2, node:http and fastify with maxmind), under the same load
// in one run, on loopback. All run all the time; rounds alternate between them and turn their order
// each time, so that what disturbs the machine disturbs all. Then few connections, and then the
// same offered rate for all that can take it (60 % of iprisk's peak, an open loop). Where the time
// goes inside the server is not asked here.
//
//   --seconds 60       load on each variant, in total, and each way
//   --rounds 6         into which that is divided
//   --connections 64
//   --workers N        processes of each server; half of the cores by default. `1,2`: iprisk alone, by
//                      each number of workers (workers.ts)
//   --table FILE       the table of the tests, or data/table/world.iprisk, by default
//   --scenario NAME    which addresses are asked about (scenario.ts)
//   --smoke            seconds in place of minutes: whether it works, not how fast
//   --json             the report as JSON
//   --save             keep it in bench/runs/
//
// The report goes to standard output, progress to standard error. Exit code 1 where there was an
// error under load or a wrong answer, 2 for wrong usage.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import { announcedSpace } from './lookups/announced.ts'
import { treeCpu } from '../harness/cpu.ts'
import type { LoadResult } from './load/load.ts'
import { wrkDriver } from './load/wrk.ts'
import { interleave } from '../harness/interleave.ts'
import { usageError } from '../../src/base/coded-error.ts'
import { tablePath, readFlags } from '../harness/option.ts'
import { nginxVersion } from './peer/nginx.ts'
import { type CorePlan, allowedCores, hasTaskset, planCores } from './load/pin.ts'
import {
  runProgram,
  logProgress,
  temporaryFolder,
  copyTable,
  showReport,
} from '../harness/program.ts'
import {
  type HttpReport,
  type HttpRound,
  type SteadyReport,
  faultCount,
  sumUpRounds,
} from './report/http-report.ts'
import { partText } from './report/markdown.ts'
import { meanAnswerBytes, requestsOf } from './load/request.ts'
import { runHead } from '../harness/run.ts'
import { type AnswerSampleReport, addSamples } from './load/answer-sample.ts'
import { defaultSeed, drawAddresses, scenarioNamed, scenarios } from './lookups/scenario.ts'
import { type BenchServer, startServers } from './servers/server.ts'
import { median } from '../harness/statistics.ts'
import { type SteadyDriver, newSteadyDriver } from './load/steady.ts'
import { type Variant, type VariantName, createBenchKey } from './servers/variant.ts'
import { measureWorkers } from './workers.ts'

const addressCounts = { measured: 100_000, smoke: 10_000 } as const
/** So few that no request waits in a queue: what is left is the server's own pauses. */
const fewConnections = 8

function readOptions() {
  const { smoke, rounds, seconds, connections, workers, own, json, save, ...flags } = readFlags({
    numbers: {
      seconds: { max: 86_400, otherwise: 60, smoke: 1 },
      rounds: { max: 1000, otherwise: 6, smoke: 2 },
      connections: { max: 10_000, otherwise: 64 },
    },
    texts: ['table', 'scenario', 'workers'],
    switches: ['own', 'smoke', 'json', 'save'],
  })
  const scenario = scenarioNamed(flags.scenario ?? 'ipv4-uniform')
  if (scenario === undefined) {
    throw usageError(`--scenario must be one of ${scenarios.map(({ name }) => name).join(', ')}.`)
  }
  return {
    // Load generators take whole seconds.
    secondsPerRound: Math.max(1, Math.round(seconds / rounds)),
    warmupSeconds: smoke ? 0 : 3,
    addressCount: addressCounts[smoke ? 'smoke' : 'measured'],
    rounds,
    steadyRounds: smoke ? 1 : rounds,
    connections,
    workers: workerCounts(workers),
    table: tablePath(flags.table),
    scenario,
    peers: !own,
    json,
    save,
  }
}

type Options = ReturnType<typeof readOptions>

function workerCounts(text = ''): readonly number[] {
  const counts = text === '' ? [] : text.split(',').map(Number)
  if (counts.every((count) => Number.isInteger(count) && count >= 1 && count <= 1024)) return counts
  throw usageError('--workers must be whole numbers from 1 to 1024, commas between.')
}

async function measure(options: Options, table: OpenTable, folder: string): Promise<HttpReport> {
  const { connections, scenario, rounds } = options
  const driver = wrkDriver()
  const cores = planCores({
    allowed: allowedCores(),
    canPin: hasTaskset(),
    workers: options.workers[0],
  })
  logProgress(`${driver.name}; ${cores.note}`)
  const requests = await drawRequests(options, table, folder)
  const answerBytes = meanAnswerBytes(table, requests.addresses)
  const { workers, threads, loadCores } = cores
  const placed = { workers, cores: cores.serverCores, folder }
  const started = await startServers({
    ...placed,
    table,
    requests,
    answerBytes,
    peers: options.peers && scenario.family === 4,
  })
  const { servers } = started
  try {
    const before = await sampleAll(servers)
    const loads = new Map(
      servers.map((server) => {
        const own = join(folder, server.name)
        mkdirSync(own, { recursive: true })
        return [server.name, driver.prepare(server.requests, own)]
      }),
    )
    const load = (server: BenchServer, seconds: number, connections: number) =>
      loads.get(server.name)!({
        port: server.port,
        seconds,
        connections,
        threads,
        cores: loadCores,
      })
    if (options.warmupSeconds > 0) {
      for (const server of servers) await load(server, options.warmupSeconds, connections)
    }
    const own = servers.filter(({ name }) => name === 'iprisk' || name === 'bare')
    const peak = await interleave(servers, rounds, (server, round) =>
      measureRound(server, round, () => load(server, options.secondsPerRound, connections)),
    )
    const few = await interleave(own, rounds, (server, round) =>
      measureRound(server, round, () => load(server, options.secondsPerRound, fewConnections)),
    )
    const steady = await measureSteady({ options, peak, folder, cores, servers })
    const after = await sampleAll(servers)
    return {
      ...runHead(process.argv.slice(2)),
      kind: 'http',
      driver: driver.name,
      nginx: nginxVersion() ?? null,
      cores: cores.note,
      workers,
      connections,
      secondsPerRound: options.secondsPerRound,
      table: { id: table.id, bytes: table.bytes },
      addresses: { scenario: scenario.name, count: options.addressCount, seed: defaultSeed },
      answerBytes,
      variants: sumUpRounds(peak, {
        workers,
        samples: new Map(
          servers.map(({ name }) => [name, addSamples(before.get(name)!, after.get(name)!)]),
        ),
      }),
      skipped: started.skipped,
      rounds: peak,
      few: { connections: fewConnections, rounds: few },
      steady,
    }
  } finally {
    await started.end()
  }
}

async function drawRequests({ scenario, addressCount }: Options, table: OpenTable, folder: string) {
  const space = announcedSpace(table.reader.views, scenario.family)
  const draw = { space, count: addressCount, seed: defaultSeed }
  return requestsOf(await createBenchKey(folder), drawAddresses(scenario, draw).texts)
}

async function sampleAll(
  servers: readonly BenchServer[],
): Promise<ReadonlyMap<VariantName, AnswerSampleReport>> {
  const samples = new Map<VariantName, AnswerSampleReport>()
  for (const server of servers) samples.set(server.name, await server.sample())
  return samples
}

/** Of iprisk's peak, offered to whatever can take it. */
const steadyShare = 0.6

async function measureSteady(options: {
  readonly options: Options
  readonly peak: readonly HttpRound[]
  readonly folder: string
  readonly cores: CorePlan
  readonly servers: readonly BenchServer[]
}): Promise<SteadyReport> {
  const { peak, folder, cores, servers } = options
  const { connections, steadyRounds: rounds, secondsPerRound: seconds } = options.options
  const rateOf = (name: VariantName): number =>
    median(
      peak.flatMap(({ variant, load }) => (variant === name ? [load.requests / load.seconds] : [])),
    )
  const rate = Math.round(steadyShare * rateOf('iprisk'))
  // A server that cannot do so much at its best would only show a growing queue.
  const able = servers.filter(({ name }) => rateOf(name) > rate / 0.9)
  const generators = new Map<VariantName, SteadyDriver>()
  for (const { name, requests } of able) {
    const found = newSteadyDriver(requests, folder)
    if ('reason' in found) return { rate, connections, reason: found.reason, rounds: [] }
    generators.set(name, found.value)
  }
  const core = cores.loadCores?.[0]
  const measured = await interleave(able, rounds, async ({ name, port }, round) => {
    const load = await generators.get(name)!({ port, connections, rate, seconds, core })
    logProgress(`round ${round + 1}: ${name} at ${rate}/s, p99 ${load.p99.toFixed(0)} us`)
    return { variant: name, round, load }
  })
  const bare = able.find(({ name }) => name === 'bare')
  if (bare === undefined) return { rate, connections, reason: null, rounds: measured }
  // What waits behind a stall depends on how busy a server is: bare is idler at the same rate.
  const bareRate = Math.round(steadyShare * rateOf('bare'))
  const loads = await interleave([bare], rounds, async ({ name, port }) =>
    generators.get(name)!({ port, connections, rate: bareRate, seconds, core }),
  )
  const alike = { rate: bareRate, loads }
  return { rate, connections, reason: null, rounds: measured, alike }
}

async function measureRound(
  variant: Variant,
  round: number,
  loadOnce: () => Promise<LoadResult>,
): Promise<HttpRound> {
  const before = treeCpu(variant.pid)
  const load = await loadOnce()
  const after = treeCpu(variant.pid)
  if (before?.pids.join() !== after?.pids.join()) {
    throw new Error(`Processes of ${variant.name} ended or began in round ${round + 1}.`)
  }
  const cpuUs =
    before === undefined || after === undefined ? null : after.microseconds - before.microseconds
  const rate = (load.requests / load.seconds).toFixed(0)
  logProgress(`round ${round + 1}: ${variant.name} ${rate} requests/s`)
  return { variant: variant.name, round, load, cpuUs }
}

async function main(): Promise<number> {
  const options = readOptions()
  const folder = temporaryFolder('http')
  const copy = copyTable(options.table, folder)
  const table = openTable(copy)
  try {
    if (options.workers.length > 1) {
      const requests = await drawRequests(options, table, folder)
      const report = await measureWorkers({
        ...options,
        counts: options.workers,
        table,
        folder,
        requests,
      })
      showReport('http-workers', report, options)
      return report.rows.reduce((sum, { errors }) => sum + errors, 0) === 0 ? 0 : 1
    }
    const report = await measure(options, table, folder)
    showReport('http', report, { ...options, text: partText('http', report) })
    return faultCount(report.variants) === 0 ? 0 : 1
  } finally {
    table.close()
  }
}

await runProgram(main)
