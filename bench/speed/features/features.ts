// `npm run bench -- features`: what a check over HTTP costs with the default policies, with a
// million entries in own lists, and with the console open in ten tabs, beside a server with none of
// these, under the same load in one run on loopback. All run all the time; rounds alternate.
//
//   --seconds 60         load on each server, in total
//   --rounds 6           into which that is divided
//   --connections 64
//   --entries 1000000    of the own list
//   --tabs 10            of the console, each asking every second
//   --table FILE         the table of the tests, or data/table/world.iprisk, by default
//   --smoke              whether it works, not how fast
//   --json               the report as JSON
//   --save               keep it in bench/runs/
//
// Rows are processor time of the server a check, and time of the load a check. Besides: how long
// the import took until a check said so, and the primary's share of a core while the tabs are open.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openTable } from '../../../src/table/open-table.ts'
import { threadCpu, treeCpu } from '../../harness/cpu.ts'
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
import { type LoadResult, errorCount } from '../load/load.ts'
import { type CorePlan, allowedCores, hasTaskset, planCores } from '../load/pin.ts'
import { requestsOf } from '../load/request.ts'
import { wrkDriver } from '../load/wrk.ts'
import { announcedSpace } from '../lookups/announced.ts'
import { defaultSeed, drawAddresses, scenarioNamed } from '../lookups/scenario.ts'
import { type Comparison, type RoundFigures, compareRounds } from '../report/comparison.ts'
import {
  type FeatureName,
  type FeaturedServer,
  featureNames,
  startFeatured,
} from '../servers/featured.ts'

export interface FeaturesReport extends RunHead {
  readonly kind: 'features'
  readonly entries: number
  readonly tabs: number
  /** From the command until a check said so. */
  readonly importMs: number
  /** Of one core, by the primary of the server whose console is open. */
  readonly primaryShare: number
  readonly tabAnswers: number
  readonly errors: number
  /** Against the plain server. */
  readonly rows: readonly (Comparison & { readonly feature: FeatureName })[]
}

const addressCount = 100_000

function readOptions() {
  return readFlags({
    numbers: {
      seconds: { max: 86_400, otherwise: 60, smoke: 1 },
      rounds: { max: 1000, otherwise: 6, smoke: 1 },
      connections: { max: 10_000, otherwise: 64 },
      entries: { max: 2_000_000, otherwise: 1_000_000, smoke: 1000 },
      // The console lets in ten logins a minute.
      tabs: { max: 10, otherwise: 10, smoke: 2 },
    },
    texts: ['table'],
    switches: ['smoke', 'json', 'save'],
  })
}

interface LoadedServer {
  readonly server: FeaturedServer
  readonly load: (seconds: number) => Promise<LoadResult>
}

/** What all rounds came to. */
interface Measured {
  readonly figures: ReadonlyMap<FeatureName, readonly RoundFigures[]>
  readonly primaryShare: number
  readonly errors: number
}

async function measure(options: ReturnType<typeof readOptions>): Promise<FeaturesReport> {
  const { entries, tabs } = options
  const folder = temporaryFolder('features')
  const table = copyTable(tablePath(options.table), folder)
  const cores = planCores({ allowed: allowedCores(), canPin: hasTaskset(), workers: 1 })
  logProgress(cores.note)
  const wanted = { table, workers: 1, cores: cores.serverCores, folder, entries, tabs }
  const servers: FeaturedServer[] = []
  try {
    for (const name of featureNames) servers.push(await startFeatured(name, wanted))
    const loads = prepareLoads(servers, { ...wanted, cores, connections: options.connections })
    const { figures, ...besides } = await runRounds(loads, options)
    return {
      ...runHead(process.argv.slice(2)),
      kind: 'features',
      entries,
      tabs,
      importMs: servers.find(({ importMs }) => importMs !== undefined)?.importMs ?? NaN,
      tabAnswers: servers.reduce((sum, { tabAnswers }) => sum + tabAnswers(), 0),
      ...besides,
      rows: featureNames
        .filter((feature) => feature !== 'plain')
        .flatMap((feature) =>
          compareRounds({ base: figures.get('plain')!, head: figures.get(feature)! }).map(
            (row) => ({ feature, ...row }),
          ),
        ),
    }
  } finally {
    await Promise.all(servers.map((server) => server.end()))
  }
}

function prepareLoads(
  servers: readonly FeaturedServer[],
  how: {
    readonly table: string
    readonly folder: string
    readonly cores: CorePlan
    readonly connections: number
  },
): readonly LoadedServer[] {
  const { folder, cores, connections } = how
  const table = openTable(how.table)
  const scenario = scenarioNamed('ipv4-uniform')!
  const space = announcedSpace(table.reader.views, scenario.family)
  const { texts } = drawAddresses(scenario, { space, count: addressCount, seed: defaultSeed })
  table.close()
  const driver = wrkDriver()
  return servers.map((server) => {
    const own = join(folder, server.name, 'load')
    mkdirSync(own)
    const run = driver.prepare(requestsOf(server.key, texts), own)
    const { port } = server
    const { threads, loadCores } = cores
    return {
      server,
      load: (seconds) => run({ port, connections, threads, cores: loadCores, seconds }),
    }
  })
}

async function runRounds(
  loads: readonly LoadedServer[],
  { seconds, rounds }: { readonly seconds: number; readonly rounds: number },
): Promise<Measured> {
  const secondsEach = Math.max(1, Math.round(seconds / rounds))
  // What warms says nothing where one round is all.
  if (rounds > 1) for (const { load } of loads) await load(1)
  const figures = new Map<FeatureName, RoundFigures[]>(featureNames.map((name) => [name, []]))
  const primary = { ms: 0, us: 0 }
  let errors = 0
  await interleave(loads, rounds, async ({ server, load }, round) => {
    const [before, from] = [cpuOf(server), performance.now()]
    const { requests, seconds: took, errors: own } = await load(secondsEach)
    const [after, to] = [cpuOf(server), performance.now()]
    if (before.pids !== after.pids) {
      throw new Error(`Processes of ${server.name} ended or began in round ${round + 1}.`)
    }
    errors += errorCount(own)
    figures.get(server.name)!.push({
      'processor time of the server a check, us': (after.tree - before.tree) / requests,
      'time of the load a check, us': (took * 1e6) / requests,
    })
    logProgress(`round ${round + 1}: ${server.name} ${Math.round(requests / took)}/s`)
    if (server.name !== 'console') return
    primary.ms += to - from
    primary.us += after.primary - before.primary
  })
  return { figures, primaryShare: primary.us / (primary.ms * 1000), errors }
}

/** Microseconds so far: of all its processes, and of the primary. */
function cpuOf({ pid }: FeaturedServer) {
  const own = threadCpu(pid)
  const primary = own === undefined ? NaN : own.loop + own.other + own.pool
  const tree = treeCpu(pid)
  return { tree: tree?.microseconds ?? NaN, pids: tree?.pids.join(), primary }
}

async function main(): Promise<number> {
  const options = readOptions()
  const report = await measure(options)
  showReport('features', report, options)
  return report.errors === 0 ? 0 : 1
}

await runProgram(main)
