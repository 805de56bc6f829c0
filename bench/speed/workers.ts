// `npm run bench -- http --workers 1,2`: checks a second of iprisk alone by its number of workers, and
// what the load generator takes of the same cores. Nothing is pinned: where the workers take all
// cores, the generator takes its share from them.

import type { OpenTable } from '../../src/table/open-table.ts'
import { endedChildrenCpuUs, treeCpu } from '../harness/cpu.ts'
import { interleave } from '../harness/interleave.ts'
import { logProgress } from '../harness/program.ts'
import { type RunHead, runHead } from '../harness/run.ts'
import { median } from '../harness/statistics.ts'
import { errorCount, type LoadRequests } from './load/load.ts'
import { allowedCores } from './load/pin.ts'
import { wrkDriver } from './load/wrk.ts'
import { startIprisk } from './servers/variant.ts'

/** Medians of rounds; CPU time is the kernel's. */
interface WorkerRow {
  readonly workers: number
  readonly checksPerSecond: number
  readonly p99Us: number
  readonly serverUsPerCheck: number
  readonly generatorUsPerCheck: number
  readonly serverCores: number
  readonly generatorCores: number
  /** Of the CPU time of both. */
  readonly generatorShare: number
  readonly errors: number
}

interface WorkersReport extends RunHead {
  readonly kind: 'http-workers'
  readonly driver: string
  readonly cores: number
  readonly connections: number
  readonly table: string
  readonly rows: readonly WorkerRow[]
}

export async function measureWorkers(options: {
  readonly counts: readonly number[]
  readonly table: OpenTable
  readonly folder: string
  readonly requests: LoadRequests
  readonly connections: number
  readonly rounds: number
  readonly secondsPerRound: number
}): Promise<WorkersReport> {
  const { counts, table, folder, requests, connections, rounds, secondsPerRound } = options
  const driver = wrkDriver()
  const load = driver.prepare(requests, folder)
  const servers: (Awaited<ReturnType<typeof startIprisk>> & { readonly workers: number })[] = []
  try {
    for (const workers of counts) {
      const placed = { workers, cores: undefined, folder, table: table.path }
      servers.push({ workers, ...(await startIprisk(placed)) })
    }
    const run = { connections, threads: 1, cores: undefined }
    for (const { port } of servers) await load({ ...run, port, seconds: 1 })
    const measured = await interleave(servers, rounds, async ({ workers, port, pid }) => {
      const [server, generator] = [treeCpu(pid)?.microseconds ?? NaN, endedChildrenCpuUs()]
      const { requests, seconds, latencyUs, errors } = await load({
        ...run,
        port,
        seconds: secondsPerRound,
      })
      const serverUs = (treeCpu(pid)?.microseconds ?? NaN) - server
      const generatorUs = endedChildrenCpuUs() - generator
      logProgress(`${workers} workers: ${(requests / seconds).toFixed(0)} checks/s`)
      return {
        workers,
        checksPerSecond: requests / seconds,
        p99Us: latencyUs.p99,
        serverUsPerCheck: serverUs / requests,
        generatorUsPerCheck: generatorUs / requests,
        serverCores: serverUs / (seconds * 1e6),
        generatorCores: generatorUs / (seconds * 1e6),
        generatorShare: generatorUs / (serverUs + generatorUs),
        errors: errorCount(errors),
      }
    })
    const rows = counts.map((workers): WorkerRow => {
      const own = measured.filter((round) => round.workers === workers)
      const of = (name: keyof WorkerRow): number => median(own.map((round) => round[name]))
      return {
        workers,
        checksPerSecond: of('checksPerSecond'),
        p99Us: of('p99Us'),
        serverUsPerCheck: of('serverUsPerCheck'),
        generatorUsPerCheck: of('generatorUsPerCheck'),
        serverCores: of('serverCores'),
        generatorCores: of('generatorCores'),
        generatorShare: of('generatorShare'),
        errors: own.reduce((sum, { errors }) => sum + errors, 0),
      }
    })
    const head = runHead(process.argv.slice(2))
    const about = { driver: driver.name, cores: allowedCores().length, connections }
    return { ...head, kind: 'http-workers', ...about, table: table.id, rows }
  } finally {
    await Promise.all(servers.map(async (server) => server.end()))
  }
}
