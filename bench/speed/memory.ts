// `npm run bench -- memory`: what memory the server takes as its workers grow, after each has
// answered under load. From /proc: a process's private memory is its own; the table's pages are one
// copy for all, so each process's share of them (Pss) adds up to the table once, however many
// workers map it.
//
//   --table FILE  --workers 1,2,4  --seconds 3 (of load)  --smoke  --json  --save
//
// Linux only: elsewhere there is no smaps.

import { openTable } from '../../src/table/open-table.ts'
import { treeCpu } from '../harness/cpu.ts'
import { wrkDriver } from './load/wrk.ts'
import { errorCount } from './load/load.ts'
import { usageError } from '../../src/base/coded-error.ts'
import { tablePath, readFlags } from '../harness/option.ts'
import {
  runProgram,
  logProgress,
  copyTable,
  temporaryFolder,
  showReport,
} from '../harness/program.ts'
import { partText } from './report/markdown.ts'
import { requestsOf } from './load/request.ts'
import { type RunHead, runHead } from '../harness/run.ts'
import { uniformTexts } from './lookups/scenario.ts'
import { type ProcessMemory, memoryOf } from '../harness/smaps.ts'
import { createBenchKey, startIprisk } from './servers/variant.ts'

export interface MemoryRow {
  readonly workers: number
  /** The primary first, then what it started. */
  readonly processes: readonly ProcessMemory[]
}

export interface MemoryReport extends RunHead {
  readonly kind: 'memory'
  readonly table: { readonly id: string; readonly bytes: number }
  readonly rows: readonly MemoryRow[]
}

async function measureRow(options: {
  readonly workers: number
  readonly table: string
  readonly seconds: number
  readonly addresses: readonly string[]
}): Promise<MemoryRow> {
  const { workers, table, seconds, addresses } = options
  const folder = temporaryFolder('memory')
  const requests = requestsOf(await createBenchKey(folder), addresses)
  const server = await startIprisk({ workers, cores: undefined, folder, table })
  try {
    const load = wrkDriver().prepare(requests, folder)
    // Connections enough that the kernel gives some to each worker.
    const run = { port: server.port, seconds, connections: 64, threads: 1, cores: undefined }
    const { errors } = await load(run)
    if (errorCount(errors) > 0) throw new Error(`There were errors: ${JSON.stringify(errors)}`)
    const pids = treeCpu(server.pid)?.pids ?? []
    const ordered = [server.pid, ...pids.filter((pid) => pid !== server.pid)]
    return { workers, processes: ordered.map((pid) => memoryOf(pid, '.iprisk')) }
  } finally {
    await server.end()
  }
}

async function main(): Promise<number> {
  const { seconds, smoke, ...flags } = readFlags({
    numbers: { seconds: { max: 3600, otherwise: 3, smoke: 1 } },
    texts: ['table', 'workers'],
    switches: ['smoke', 'json', 'save'],
  })
  const counts = (flags.workers ?? (smoke ? '1,2' : '1,2,4')).split(',').map(Number)
  if (!counts.every((count) => Number.isInteger(count) && count > 0 && count <= 64)) {
    throw usageError('--workers must be whole numbers from 1 to 64 with commas between.')
  }
  const copy = copyTable(tablePath(flags.table), temporaryFolder('table'))
  const table = openTable(copy)
  const facts = { id: table.id, bytes: table.bytes }
  const texts = uniformTexts(table.reader.views, 50_000)
  // This process must not hold a share of the pages.
  table.close()
  const rows: MemoryRow[] = []
  for (const workers of counts) {
    logProgress(`${workers} workers`)
    rows.push(await measureRow({ workers, table: copy, seconds, addresses: texts }))
  }
  const report = {
    ...runHead(process.argv.slice(2)),
    kind: 'memory',
    table: facts,
    rows,
  } satisfies MemoryReport
  showReport('memory', report, { ...flags, text: partText('memory', report) })
  return 0
}

await runProgram(main)
