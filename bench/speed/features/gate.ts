// `npm run bench -- gate`: what a visitor at the gate costs, beside a bare uWebSockets.js that
// answers 204 with the same headers, the same after the gate's native calls, and nginx with geoip2 that decides by country and answers 204
// with as many. The same requests, as deploy/gate/nginx.conf sends them, in one run on loopback;
// all run all the time, rounds alternate, servers and load have cores of their own.
//
//   --seconds 60       load on each server, in total
//   --rounds 6         into which that is divided
//   --connections 64
//   --table FILE       the table of the tests, or data/table/world.iprisk, by default
//   --smoke            whether it works, not how fast
//   --json             the report as JSON
//   --save             keep it in bench/runs/
//
// What nginx does not do: no policies, no verdict, no walk past proxies, no metrics. Exit code 1
// where an answer under load was an error.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { IpriskError } from '../../../src/base/coded-error.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { treeCpu } from '../../harness/cpu.ts'
import { interleave } from '../../harness/interleave.ts'
import { readFlags, tablePath } from '../../harness/option.ts'
import {
  copyTable,
  logProgress,
  runProgram,
  showReport,
  temporaryFolder,
} from '../../harness/program.ts'
import { type RunHead, runHead } from '../../harness/run.ts'
import { median, medianRatio, spread } from '../../harness/statistics.ts'
import { freePort } from '../../harness/free-port.ts'
import { type LoadRequests, errorCount } from '../load/load.ts'
import { type CorePlan, allowedCores, hasTaskset, planCores } from '../load/pin.ts'
import { wrkDriver } from '../load/wrk.ts'
import { uniformTexts } from '../lookups/scenario.ts'
import { type Variant, startBare, startIprisk, startNginx } from '../servers/variant.ts'

export interface GateReport extends RunHead {
  readonly kind: 'gate'
  readonly cores: string
  readonly errors: number
  /** Medians over the rounds; ratios are taken inside each round. */
  readonly servers: readonly {
    readonly server: string
    readonly requestsPerSecond: number
    readonly spread: number
    readonly cpuUsPerRequest: number
    /** The gate's requests a second over this server's. */
    readonly gateOverIt: number
  }[]
}

const policies = {
  default: { rules: [], otherwise: 'allow' },
  login: {
    rules: [{ name: 'abuse', condition: 'risk_score >= 75', action: 'challenge' }],
    otherwise: 'allow',
  },
}

function readOptions() {
  return readFlags({
    numbers: {
      seconds: { max: 86_400, otherwise: 60, smoke: 1 },
      rounds: { max: 1000, otherwise: 6, smoke: 1 },
      connections: { max: 10_000, otherwise: 64 },
    },
    texts: ['table'],
    switches: ['smoke', 'json', 'save'],
  })
}

const requestsOf = (addresses: readonly string[]): LoadRequests => ({
  carrier: 'header',
  addressHeader: 'x-forwarded-for',
  path: '/gate/login',
  headers: { 'content-length': '0', 'x-request-id': '0123456789abcdef0123456789abcdef' },
  addresses,
})

type Server = Omit<Variant, 'name'> & { readonly name: string }

/** Adds to `servers` as they start, so that what runs is known if a later one fails. */
async function startAll(
  servers: Server[],
  placed: {
    readonly table: string
    readonly folder: string
    readonly cores: readonly number[] | undefined
  },
): Promise<void> {
  const { folder } = placed
  const file = join(folder, 'policies.json')
  writeFileSync(file, JSON.stringify({ policies }))
  const port = await freePort()
  const flags = { policies: file, gate: `127.0.0.1:${port}` }
  const one = { ...placed, workers: 1 }
  servers.push({ ...(await startIprisk({ ...one, flags })), name: 'gate', port })
  servers.push(await startBare({ ...one, bytes: 0, gate: true }))
  servers.push(await startBare({ ...one, bytes: 0, gate: true, calls: true }))
  const nginx = await startNginx({ ...one, gate: true })
  if ('reason' in nginx) {
    throw new IpriskError({ code: 'bench_failed', message: nginx.reason, fault: 'environment' })
  }
  servers.push(nginx.value)
}

/** All must answer alike before they are compared. */
async function assertAlike(servers: readonly Server[], address: string): Promise<void> {
  for (const { name, port } of servers) {
    const headers = { 'x-forwarded-for': address, 'x-request-id': 'a' }
    const answer = await fetch(`http://127.0.0.1:${port}/gate/login`, { headers })
    const facts = [...answer.headers.keys()].filter((header) => header.startsWith('x-'))
    if (answer.status !== 204 || facts.length !== 7) {
      throw new Error(`${name} answers ${answer.status} with ${facts.join(', ')}.`)
    }
  }
}

interface Round {
  readonly server: string
  readonly rate: number
  readonly cpuUs: number
  readonly errors: number
}

async function runRounds(
  servers: readonly Server[],
  how: ReturnType<typeof readOptions> & {
    readonly cores: CorePlan
    readonly folder: string
    readonly requests: LoadRequests
  },
): Promise<readonly Round[]> {
  const { cores, folder, requests, rounds, seconds, connections } = how
  const own = join(folder, 'load')
  mkdirSync(own)
  const run = wrkDriver().prepare(requests, own)
  const { threads, loadCores } = cores
  const load = ({ port }: Server, times: number) =>
    run({ port, connections, threads, cores: loadCores, seconds: times })
  for (const server of servers) await load(server, how.smoke ? 1 : 3)
  return interleave(servers, rounds, async (server, round) => {
    const before = treeCpu(server.pid)?.microseconds ?? NaN
    const {
      requests: count,
      seconds: took,
      errors,
    } = await load(server, Math.max(1, Math.round(seconds / rounds)))
    const cpuUs = ((treeCpu(server.pid)?.microseconds ?? NaN) - before) / count
    const rate = count / took
    logProgress(`round ${round + 1}: ${server.name} ${Math.round(rate)}/s`)
    return { server: server.name, rate, cpuUs, errors: errorCount(errors) }
  })
}

async function main(): Promise<number> {
  const options = readOptions()
  const folder = temporaryFolder('gate')
  const table = copyTable(tablePath(options.table), folder)
  const opened = openTable(table)
  const addresses = uniformTexts(opened.reader.views, 100_000)
  opened.close()
  const cores = planCores({ allowed: allowedCores(), canPin: hasTaskset(), workers: 1 })
  logProgress(cores.note)
  const servers: Server[] = []
  try {
    await startAll(servers, { table, folder, cores: cores.serverCores })
    await assertAlike(servers, addresses[0]!)
    const requests = requestsOf(addresses)
    const measured = await runRounds(servers, { ...options, cores, folder, requests })
    const of = (name: string, member: 'rate' | 'cpuUs'): readonly number[] =>
      measured.flatMap((round) => (round.server === name ? [round[member]] : []))
    const values = of('gate', 'rate')
    const report: GateReport = {
      ...runHead(process.argv.slice(2)),
      kind: 'gate',
      cores: cores.note,
      errors: measured.reduce((sum, { errors }) => sum + errors, 0),
      servers: servers.map(({ name }) => ({
        server: name,
        requestsPerSecond: median(of(name, 'rate')),
        spread: spread(of(name, 'rate')),
        cpuUsPerRequest: median(of(name, 'cpuUs')),
        gateOverIt: medianRatio({ values, base: of(name, 'rate') }),
      })),
    }
    showReport('gate', report, options)
    return report.errors === 0 ? 0 : 1
  } finally {
    await Promise.all(servers.map(({ end }) => end()))
  }
}

await runProgram(main)
