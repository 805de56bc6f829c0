// `npm run bench -- limits`: what limits cost under load. One server, one load, two keys that take
// turns round by round: one with a rate and a quota, which is held against both and told what is
// left in two headers, and one of the plan without limits. The same process answers both, so that
// what disturbs the machine disturbs both.
//
//   --table FILE  --seconds 40 (of load on each key)  --rounds 10  --connections 64
//   --smoke  --json  --save
//
// Exit code 1 where there was an error under load.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openTable } from '../../../src/table/open-table.ts'
import { treeCpu } from '../../harness/cpu.ts'
import { wrkDriver } from '../load/wrk.ts'
import { type LoadResult, errorCount } from '../load/load.ts'
import { interleave } from '../../harness/interleave.ts'
import { tablePath, readFlags } from '../../harness/option.ts'
import { allowedCores, hasTaskset, planCores } from '../load/pin.ts'
import {
  runProgram,
  logProgress,
  temporaryFolder,
  copyTable,
  showReport,
} from '../../harness/program.ts'
import { requestsOf } from '../load/request.ts'
import { type RunHead, runHead } from '../../harness/run.ts'
import { uniformTexts } from '../lookups/scenario.ts'
import { median } from '../../harness/statistics.ts'
import { createBenchKey, startIprisk } from '../servers/variant.ts'

const keyKinds = ['limited', 'unlimited'] as const
type KeyKind = (typeof keyKinds)[number]

interface LimitRound {
  readonly key: KeyKind
  readonly round: number
  readonly requestsPerSecond: number
  readonly cpuUsPerRequest: number
  readonly errors: number
}

export interface LimitsReport extends RunHead {
  readonly kind: 'limits'
  readonly table: { readonly id: string; readonly bytes: number }
  readonly cores: string
  readonly rounds: readonly LimitRound[]
  /** With limits over without: the median of the rounds' ratios. */
  readonly throughputRatio: number
  /** Without over with. */
  readonly cpuRatio: number
}

interface Options {
  readonly seconds: number
  readonly rounds: number
  readonly connections: number
}

function ratioOf(rounds: readonly LimitRound[], value: (round: LimitRound) => number): number {
  const of = (key: KeyKind): readonly LimitRound[] => rounds.filter((round) => round.key === key)
  const unlimited = of('unlimited')
  return median(of('limited').map((round, at) => value(round) / value(unlimited[at]!)))
}

async function measure(copy: string, folder: string, options: Options): Promise<LimitsReport> {
  const { rounds: count, connections } = options
  const seconds = Math.max(1, Math.round(options.seconds / count))
  const table = openTable(copy)
  const facts = { id: table.id, bytes: table.bytes }
  const texts = uniformTexts(table.reader.views, 100_000)
  table.close()
  const plan = planCores({ allowed: allowedCores(), canPin: hasTaskset(), workers: 1 })
  const server = await startIprisk({ workers: 1, cores: plan.serverCores, folder, table: copy })
  try {
    const loadOf = async (key: KeyKind): Promise<() => Promise<LoadResult>> => {
      const own = join(folder, key)
      mkdirSync(own)
      const text = await createBenchKey(
        folder,
        key === 'unlimited' ? { plan: 'internal' } : undefined,
      )
      const load = wrkDriver().prepare(requestsOf(text, texts), own)
      const { threads, loadCores: cores } = plan
      return () => load({ port: server.port, seconds, connections, threads, cores })
    }
    const loads = { limited: await loadOf('limited'), unlimited: await loadOf('unlimited') }
    // New keys take effect within a second, and the first rounds compile.
    for (const key of keyKinds) await loads[key]()
    const rounds = await interleave(keyKinds, count, async (key, round): Promise<LimitRound> => {
      const before = treeCpu(server.pid)?.microseconds ?? NaN
      const load = await loads[key]()
      const cpuUs = (treeCpu(server.pid)?.microseconds ?? NaN) - before
      const requestsPerSecond = load.requests / load.seconds
      logProgress(`round ${round + 1}: ${key} ${requestsPerSecond.toFixed(0)} requests/s`)
      const errors = errorCount(load.errors)
      return { key, round, requestsPerSecond, cpuUsPerRequest: cpuUs / load.requests, errors }
    })
    return {
      ...runHead(process.argv.slice(2)),
      kind: 'limits',
      table: facts,
      cores: plan.note,
      rounds,
      throughputRatio: ratioOf(rounds, (round) => round.requestsPerSecond),
      cpuRatio: 1 / ratioOf(rounds, (round) => round.cpuUsPerRequest),
    }
  } finally {
    await server.end()
  }
}

async function main(): Promise<number> {
  const { seconds, rounds, connections, table, json, save } = readFlags({
    numbers: {
      seconds: { max: 86_400, otherwise: 40, smoke: 1 },
      rounds: { max: 86_400, otherwise: 10, smoke: 1 },
      connections: { max: 86_400, otherwise: 64 },
    },
    texts: ['table'],
    switches: ['smoke', 'json', 'save'],
  })
  const folder = temporaryFolder('limits')
  const copy = copyTable(tablePath(table), folder)
  const report = await measure(copy, folder, { seconds, rounds, connections })
  showReport('limits', report, { json, save })
  return report.rounds.every(({ errors }) => errors === 0) ? 0 : 1
}

await runProgram(main)
