// `npm run bench -- client`: what a check costs its caller, and what of it the server; how long a
// check waits for batches of 256 that others send; and the caller's memory over many checks. The
// ways to ask alternate. Caller and server are two processes that share the cores; CPU time is the
// kernel's, so it is comparable where the machine is busy, and times are not.
//
//   --checks 20000     of each way and round
//   --rounds 3         the median counts
//   --seconds 3        of each round beside batches
//   --memory 1000000   checks over which the memory is read, five times
//   --table FILE       the table of the tests, or data/table/world.iprisk, by default
//   --smoke            whether it works, not how fast
//   --json             the report as JSON
//   --save             keep it in bench/runs/
//
// Exit code 1 where a check had no answer.

import { Agent, request } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Pool } from 'undici'
import { paths } from '../../src/api/public-port.ts'
import { createClient } from '../../src/client/node-client.ts'
import { openTable } from '../../src/table/open-table.ts'
import { treeCpu } from '../harness/cpu.ts'
import { readFlags, tablePath } from '../harness/option.ts'
import { logProgress, runProgram, showReport, temporaryFolder } from '../harness/program.ts'
import { type RunHead, runHead } from '../harness/run.ts'
import { median } from '../harness/statistics.ts'
import { errorCount, type LoadResult } from './load/load.ts'
import { batchRequestsOf, requestsOf } from './load/request.ts'
import { wrkDriver } from './load/wrk.ts'
import { uniformTexts } from './lookups/scenario.ts'
import { createBenchKey, startIprisk } from './servers/variant.ts'

/** Whether the address had an answer. */
type Ask = (ip: string) => Promise<boolean>

interface Way {
  readonly way: string
  readonly ask: Ask
  readonly close: () => unknown
}

interface Round {
  readonly callerUs: number
  readonly serverUs: number
  readonly checksPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

interface WayRow extends Round {
  readonly way: string
  readonly atOnce: number
}

export interface ClientReport extends RunHead {
  readonly kind: 'client'
  readonly table: string
  readonly ways: readonly WayRow[]
  /** Of lone checks, without and with one sender of batches of 256 beside them. */
  readonly besideBatches: readonly {
    readonly beside: string
    readonly p50Us: number
    readonly p99Us: number
    readonly p999Us: number
  }[]
  /** Of the caller with iprisk-client, 64 at once, after a collection. */
  readonly memory: readonly MemoryRow[]
}

interface MemoryRow {
  readonly checks: number
  readonly heapMb: number
  readonly rssMb: number
}

function waysTo(port: number, key: string): readonly Way[] {
  const url = `http://127.0.0.1:${port}`
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const isAnswer = (text: string): boolean =>
    typeof (JSON.parse(text) as { risk_score?: unknown }).risk_score === 'number'
  const clientOf = (way: string, coalesce: boolean): Way => {
    const client = createClient({ url, key, coalesce, cacheMs: 0, timeoutMs: 10_000 })
    return { way, ask: async (ip) => (await client.check(ip)).ok, close: () => client.close() }
  }
  const agent = new Agent({ keepAlive: true })
  const pool = new Pool(url, { connections: 64 })
  const byNode: Ask = (ip) =>
    new Promise((resolve) => {
      const sent = request(`${url}${paths.check}`, { method: 'POST', agent, headers }, (reply) => {
        let text = ''
        reply.setEncoding('utf8')
        reply.on('data', (part: string) => (text += part))
        reply.on('end', () => resolve(isAnswer(text)))
      })
      sent.on('error', () => resolve(false))
      sent.end(JSON.stringify({ ip }))
    })
  const byUndici: Ask = async (ip) => {
    const body = JSON.stringify({ ip })
    const reply = await pool.request({ path: paths.check, method: 'POST', headers, body })
    return isAnswer(await reply.body.text())
  }
  const byFetch: Ask = async (ip) => {
    const body = JSON.stringify({ ip })
    const reply = await fetch(`${url}${paths.check}`, { method: 'POST', headers, body })
    return isAnswer(await reply.text())
  }
  return [
    clientOf('iprisk-client', true),
    clientOf('iprisk-client, coalesce: false', false),
    { way: 'node:http', ask: byNode, close: () => agent.destroy() },
    { way: 'undici', ask: byUndici, close: () => pool.close() },
    { way: 'fetch', ask: byFetch, close: () => undefined },
  ]
}

async function measureRound(
  ask: Ask,
  how: { readonly ips: readonly string[]; readonly atOnce: number; readonly pid: number },
): Promise<Round> {
  const { ips, atOnce, pid } = how
  const waits: number[] = []
  let failed = 0
  let next = 0
  const caller = async (): Promise<void> => {
    while (next < ips.length) {
      const from = performance.now()
      if (!(await ask(ips[next++]!))) failed += 1
      waits.push(performance.now() - from)
    }
  }
  const [server, own, from] = [treeCpu(pid), process.cpuUsage(), performance.now()]
  await Promise.all(Array.from({ length: atOnce }, caller))
  const seconds = (performance.now() - from) / 1000
  const { user, system } = process.cpuUsage(own)
  waits.sort((a, b) => a - b)
  const at = (share: number): number => waits[Math.floor(share * (waits.length - 1))] ?? 0
  return {
    callerUs: (user + system) / ips.length,
    serverUs: ((treeCpu(pid)?.microseconds ?? 0) - (server?.microseconds ?? 0)) / ips.length,
    checksPerSecond: ips.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failed,
  }
}

async function measureMemory(
  ask: Ask,
  how: { readonly ips: readonly string[]; readonly checks: number; readonly pid: number },
): Promise<readonly MemoryRow[]> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const rows: MemoryRow[] = []
  const rounds = Math.ceil(how.checks / how.ips.length)
  const each = Math.max(1, Math.floor(rounds / 5))
  for (let round = 1; round <= rounds; round++) {
    await measureRound(ask, { ...how, atOnce: 64 })
    if (round % each !== 0) continue
    collect()
    const { heapUsed, rss } = process.memoryUsage()
    rows.push({ checks: round * how.ips.length, heapMb: heapUsed / 1e6, rssMb: rss / 1e6 })
  }
  return rows
}

function medianOf(rounds: readonly Round[]): Round {
  const of = (name: keyof Round): number => median(rounds.map((round) => round[name]))
  return {
    callerUs: of('callerUs'),
    serverUs: of('serverUs'),
    checksPerSecond: of('checksPerSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    failed: rounds.reduce((sum, { failed }) => sum + failed, 0),
  }
}

function readOptions() {
  const flags = readFlags({
    numbers: {
      checks: { max: 1_000_000, otherwise: 20_000, smoke: 300 },
      rounds: { max: 100, otherwise: 3, smoke: 1 },
      seconds: { max: 600, otherwise: 3, smoke: 1 },
      memory: { max: 100_000_000, otherwise: 1_000_000, smoke: 600 },
    },
    texts: ['table'],
    switches: ['smoke', 'json', 'save'],
  })
  return { ...flags, table: tablePath(flags.table) }
}

async function main(): Promise<number> {
  const { checks, rounds, seconds, memory, ...options } = readOptions()
  const folder = temporaryFolder('client')
  const table = openTable(options.table)
  const key = await createBenchKey(folder)
  const server = await startIprisk({ workers: 1, cores: undefined, folder, table: table.path })
  const { port, pid } = server
  const ips = uniformTexts(table.reader.views, checks)
  const ways = waysTo(port, key)
  try {
    const rows: WayRow[] = []
    for (const atOnce of [1, 64]) {
      const taken = ways.map((): Round[] => [])
      // The first round warms.
      for (let round = -1; round < rounds; round++) {
        for (const turn of ways.keys()) {
          // Each round begins with another one.
          const index = (turn + round + 1) % ways.length
          const measured = await measureRound(ways[index]!.ask, { ips, atOnce, pid })
          if (round >= 0) taken[index]!.push(measured)
        }
        logProgress(`${atOnce} at once, round ${round + 1} of ${rounds}`)
      }
      rows.push(...ways.map(({ way }, index) => ({ way, atOnce, ...medianOf(taken[index]!) })))
    }
    const memoryRows = await measureMemory(ways[0]!.ask, { ips, checks: memory, pid })
    const requests = requestsOf(key, ips)
    const prepare = (asked: typeof requests) => wrkDriver().prepare(asked, temporaryFolder('wrk'))
    const [lone, batches] = [prepare(requests), prepare(batchRequestsOf(requests, 256))]
    const one = { port, connections: 1, threads: 1, cores: undefined }
    const alone: LoadResult[] = []
    const beside: LoadResult[] = []
    let errors = 0
    for (let round = 0; round < rounds; round++) {
      alone.push(await lone({ ...one, seconds }))
      const filling = batches({ ...one, seconds: seconds + 2 })
      beside.push(await lone({ ...one, seconds }))
      errors += errorCount((await filling).errors)
    }
    for (const run of [...alone, ...beside]) errors += errorCount(run.errors)
    const besideBatches = [alone, beside].map((runs, index) => ({
      beside: index === 0 ? 'nothing' : 'batches of 256',
      p50Us: median(runs.map(({ latencyUs }) => latencyUs.p50)),
      p99Us: median(runs.map(({ latencyUs }) => latencyUs.p99)),
      p999Us: median(runs.map(({ latencyUs }) => latencyUs.p999)),
    }))
    const head = runHead(process.argv.slice(2))
    const report: ClientReport = {
      ...head,
      kind: 'client',
      table: table.id,
      ways: rows,
      besideBatches,
      memory: memoryRows,
    }
    showReport('client', report, options)
    return errors + rows.reduce((sum, { failed }) => sum + failed, 0) === 0 ? 0 : 1
  } finally {
    await Promise.all(ways.map(async ({ close }) => close()))
    await server.end()
    table.close()
  }
}

await runProgram(main)
