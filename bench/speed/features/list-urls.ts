// `npm run bench -- list-urls`: lists by URL of one server with one worker. Each set and format, how
// large it is and how long until the first and the second request have it; the peak memory of the
// process that makes them; how long the server's loops are held while many download a whole list;
// and what a check costs alone, and beside conditional requests that are answered 304.
//
//   --seconds 60       checks, in total, and each way
//   --rounds 12        into which that is divided
//   --connections 64
//   --downloads 20     side by side
//   --polls 10         conditional requests a second: of 600 firewalls that each send one a minute
//   --table FILE       the table of the tests, or data/table/world.iprisk, by default
//   --smoke  --json  --save
//
// Exit code 1 where an answer was an error.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseStat, readSystemFile } from '../../../src/base/system/process.ts'
import { namesIn } from '../../../src/base/system/atomic-file.ts'
import { builtInSets } from '../../../src/model/published-sets.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { threadCpu, treeOf } from '../../harness/cpu.ts'
import { interleave } from '../../harness/interleave.ts'
import { lagsOf, watchingLoops } from '../../harness/loop-lags.ts'
import { readFlags, tablePath } from '../../harness/option.ts'
import {
  copyTable,
  logProgress,
  runProgram,
  showReport,
  temporaryFolder,
} from '../../harness/program.ts'
import { type RunHead, runHead } from '../../harness/run.ts'
import { median } from '../../harness/statistics.ts'
import { errorCount } from '../load/load.ts'
import { requestsOf } from '../load/request.ts'
import { wrkDriver } from '../load/wrk.ts'
import { uniformTexts } from '../lookups/scenario.ts'
import { createBenchKey, startIprisk } from '../servers/variant.ts'

export interface ListUrlsReport extends RunHead {
  readonly kind: 'list-urls'
  readonly lists: readonly ListRow[]
  readonly makerPeakBytes: number
  readonly downloads: {
    readonly count: number
    readonly bytes: number
    readonly seconds: number
    /** The longest, milliseconds. */
    readonly workerHeldMs: number
    readonly primaryHeldMs: number
  }
  /** Medians over the rounds. */
  readonly checks: readonly {
    readonly beside: string
    readonly perSecond: number
    readonly cpuUsPerCheck: number
  }[]
  readonly cpuUsPer304: number
  readonly errors: number
}

interface ListRow {
  readonly set: string
  readonly format: string
  readonly prefixes: number | null
  readonly bytes: number
  readonly gzipBytes: number
  readonly firstSeconds: number
  readonly secondSeconds: number
}

/** Of the largest set; the others are read as `plain` alone. */
const formats = [
  'range',
  'json',
  'f5',
  'checkpoint',
  'mikrotik',
  'nginx',
  'haproxy',
  'nft',
  'ipset',
  'mmdb&layout=anonymous-plus',
]

type Ask = (path: string, headers?: Readonly<Record<string, string>>) => Promise<Response>

const notModified = 304
const [pollers, pollsEach] = [8, 250] as const

/** As an answer that is not ready is asked for again; its body as it was sent. */
async function download(ask: Ask, path: string, encoding: 'gzip' | 'identity') {
  const begun = performance.now()
  for (;;) {
    const response = await ask(path, { 'accept-encoding': encoding })
    const body = Buffer.from(await response.arrayBuffer())
    const seconds = (performance.now() - begun) / 1000
    const length = Number(response.headers.get('content-length'))
    if (response.status === 200) return { body, seconds, length, tag: response.headers.get('etag') }
    if (response.status !== 503) throw new Error(`${path}: ${response.status} ${body.toString()}`)
  }
}

async function rowOf(ask: Ask, set: string, format: string): Promise<ListRow> {
  const path = `${set}?max=999999999&format=${format}`
  const first = await download(ask, path, 'identity')
  const second = await download(ask, path, 'identity')
  const packed = await download(ask, path, 'gzip')
  const lines = format === 'plain' ? first.body.filter((byte) => byte === 10).length : null
  const [firstSeconds, secondSeconds] = [first.seconds, second.seconds]
  const sizes = { bytes: first.length, gzipBytes: packed.length }
  logProgress(`${path}: ${first.length} bytes in ${firstSeconds.toFixed(2)} s`)
  return { set, format, prefixes: lines, ...sizes, firstSeconds, secondSeconds }
}

/** Its primary and worker; the process that makes sets, which stays for a minute. */
function processesOf(server: number) {
  const stats = namesIn('/proc').flatMap((name) =>
    /^\d+$/.test(name) ? (parseStat(readSystemFile(`/proc/${name}/stat`)) ?? []) : [],
  )
  const pids = treeOf(server, stats).map(({ pid }) => pid)
  const isMaker = (pid: number): boolean =>
    readSystemFile(`/proc/${pid}/cmdline`).includes('make-set')
  return { makers: pids.filter(isMaker), serving: pids.filter((pid) => !isMaker(pid)) }
}

/** Of primary and worker, microseconds. */
function cpuUsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const { loop, pool, other } = threadCpu(pid) ?? { loop: NaN, pool: NaN, other: NaN }
    return sum + loop + pool + other
  }, 0)
}

/** Of the process that makes sets, bytes. */
function makerPeakBytes(server: number): number {
  const peaks = processesOf(server).makers.map((pid) => {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readSystemFile(`/proc/${pid}/status`)) ?? []
    return Number(kilobytes) * 1024
  })
  return Math.max(0, ...peaks)
}

/** One conditional request; 1 where it had no 304. */
async function poll(ask: Ask, path: string, tag: string): Promise<number> {
  const response = await ask(path, { 'if-none-match': tag, 'accept-encoding': 'identity' })
  await response.arrayBuffer()
  return response.status === notModified ? 0 : 1
}

/** Sends polls at a fixed rate until it is stopped; returns how many were not answered 304. */
function startPolls(perSecond: number, pollOnce: () => Promise<number>) {
  const over = new AbortController()
  const running = (async (): Promise<number> => {
    const begun = performance.now()
    const all: Promise<number>[] = []
    for (let count = 0; !over.signal.aborted; count++) {
      all.push(pollOnce())
      await sleep(Math.max(0, begun + ((count + 1) * 1000) / perSecond - performance.now()))
    }
    return (await Promise.all(all)).reduce((sum, one) => sum + one, 0)
  })()
  return (): Promise<number> => {
    over.abort()
    return running
  }
}

async function main(): Promise<number> {
  const options = readFlags({
    numbers: {
      seconds: { max: 86_400, otherwise: 60, smoke: 2 },
      rounds: { max: 1000, otherwise: 12, smoke: 2 },
      connections: { max: 10_000, otherwise: 64 },
      downloads: { max: 1000, otherwise: 20 },
      polls: { max: 10_000, otherwise: 10 },
    },
    texts: ['table'],
    switches: ['smoke', 'json', 'save'],
  })
  const folder = temporaryFolder('list-urls')
  const lags = join(folder, 'lags')
  mkdirSync(lags)
  const table = copyTable(tablePath(options.table), folder)
  const key = await createBenchKey(folder)
  const listKey = await createBenchKey(folder, { plan: 'internal', api: 'lists' })
  const server = await watchingLoops(lags, () =>
    startIprisk({ table, folder, workers: 1, cores: undefined }),
  )
  const authorization = `Bearer ${listKey}`
  const root = `http://127.0.0.1:${server.port}/lists/`
  const ask: Ask = (path, headers) =>
    fetch(`${root}${path}`, { headers: { authorization, ...headers } })
  try {
    const sets: ListRow[] = []
    for (const set of Object.keys(builtInSets)) sets.push(await rowOf(ask, set, 'plain'))
    const largest = sets.toSorted((one, other) => other.bytes - one.bytes)[0]!.set
    const others: ListRow[] = []
    for (const format of formats) others.push(await rowOf(ask, largest, format))
    const peakBytes = makerPeakBytes(server.pid)

    const path = `${largest}?max=999999999`
    const { tag } = await download(ask, path, 'identity')
    let [bytes, seconds] = [0, 0]
    const held = await lagsOf(lags, async () => {
      const begun = performance.now()
      const all = Array.from({ length: options.downloads }, () => download(ask, path, 'identity'))
      for (const { body } of await Promise.all(all)) bytes += body.length
      seconds = (performance.now() - begun) / 1000
    })

    const measured = { folder, table, key, server, ask, path, tag: tag! }
    const checks = await measureChecks({ ...options, ...measured })
    const report: ListUrlsReport = {
      ...runHead(process.argv.slice(2)),
      kind: 'list-urls',
      lists: [...sets, ...others],
      makerPeakBytes: peakBytes,
      downloads: {
        count: options.downloads,
        bytes,
        seconds,
        workerHeldMs: held.worker,
        primaryHeldMs: held.primary,
      },
      ...checks,
    }
    showReport('list-urls', report, options)
    return report.errors === 0 ? 0 : 1
  } finally {
    await server.end()
  }
}

async function measureChecks(how: {
  readonly seconds: number
  readonly rounds: number
  readonly connections: number
  readonly polls: number
  readonly folder: string
  readonly table: string
  readonly key: string
  readonly server: Awaited<ReturnType<typeof startIprisk>>
  readonly ask: Ask
  readonly path: string
  readonly tag: string
}): Promise<Pick<ListUrlsReport, 'checks' | 'cpuUsPer304' | 'errors'>> {
  const { server, folder, ask, path, tag, connections, rounds } = how
  const opened = openTable(how.table)
  const requests = requestsOf(how.key, uniformTexts(opened.reader.views, 20_000))
  opened.close()
  const seconds = Math.max(1, Math.round(how.seconds / rounds))
  const driver = wrkDriver()
  const load = driver.prepare(requests, folder)
  const { serving } = processesOf(server.pid)
  let errors = 0
  const run = async (work: typeof load, times = seconds) => {
    const before = cpuUsOf(serving)
    const place = { port: server.port, threads: 1, cores: undefined }
    const done = await work({ ...place, connections, seconds: times })
    errors += errorCount(done.errors)
    const cpuUs = (cpuUsOf(serving) - before) / done.requests
    return { perSecond: done.requests / done.seconds, cpuUsPerCheck: cpuUs }
  }
  await run(load)
  const ways = ['nothing', `${how.polls} conditional requests a second`] as const
  const measured = await interleave(ways, rounds, async (beside, round) => {
    const end = beside === ways[0] ? undefined : startPolls(how.polls, () => poll(ask, path, tag))
    const found = await run(load)
    errors += (await end?.()) ?? 0
    logProgress(
      `round ${round + 1}, beside ${beside}: ${found.cpuUsPerCheck.toFixed(2)} us a check`,
    )
    return { beside, ...found }
  })
  const checks = ways.map((beside) => {
    const own = measured.filter((one) => one.beside === beside)
    const of = (member: 'perSecond' | 'cpuUsPerCheck') => median(own.map((one) => one[member]))
    return { beside, perSecond: of('perSecond'), cpuUsPerCheck: of('cpuUsPerCheck') }
  })
  const before = cpuUsOf(serving)
  const wrong = await Promise.all(
    Array.from({ length: pollers }, async () => {
      let count = 0
      for (let i = 0; i < pollsEach; i++) count += await poll(ask, path, tag)
      return count
    }),
  )
  errors += wrong.reduce((sum, count) => sum + count, 0)
  const cpuUsPer304 = (cpuUsOf(serving) - before) / (pollers * pollsEach)
  return { checks, cpuUsPer304, errors }
}

await runProgram(main)
