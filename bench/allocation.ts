// `npm run bench:allocation`: what the hot path leaves for the garbage collector, by heap sampling of
// a real worker under a million requests with a known key and a valid body. Counted as our own is
// what is allocated while a function of this product is the innermost one in JavaScript: that holds
// the strings and objects that the binding makes at its call, so it is an upper bound, and the
// report names the functions.
//
//   --table FILE  --seconds 25 (of load)  --smoke  --json  --save

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { alignColumns } from '../src/base/column.ts'
import { openTable } from '../src/table/open.ts'
import { announcedSpace } from './announced.ts'
import { chooseDriver } from './driver.ts'
import { errorCount } from './load.ts'
import { tablePath, wholeOption } from './option.ts'
import { runProgram, say } from './program.ts'
import { requestsOf } from './request.ts'
import { type RunHead, runHead, saveRun } from './run.ts'
import type { Allocated } from './sampling.ts'
import { defaultSeed, drawAddresses, scenarioNamed } from './scenario.ts'
import { createKey, startIprisk } from './variant.ts'

export interface AllocationReport extends RunHead {
  readonly kind: 'allocation'
  readonly requests: number
  readonly ownBytesPerRequest: number
  readonly bytesPerRequest: number
  /** The functions that allocate most. */
  readonly functions: readonly {
    readonly name: string
    /** From the product's root; empty for what is native. */
    readonly file: string
    readonly bytesPerRequest: number
  }[]
}

const functionsMax = 20
const waitMs = 15_000
/** Requests before the sampling: compiled by then. */
const warmupSeconds = 3

/** The path inside the product, or '' for the rest. */
function ownFile(url: string): string {
  return /\/dist\/(src\/[^?]+)$/.exec(url)?.[1] ?? ''
}

export function sumUpAllocation(
  allocated: readonly Allocated[],
  requests: number,
): Pick<AllocationReport, 'ownBytesPerRequest' | 'bytesPerRequest' | 'functions'> {
  const sum = (of: readonly Allocated[]): number =>
    of.reduce((all, { bytes }) => all + bytes, 0) / requests
  // The sampler's own looking is none of the server's.
  const others = allocated.filter(({ url }) => !url.includes('/dist/bench/'))
  return {
    ownBytesPerRequest: sum(others.filter(({ url }) => ownFile(url) !== '')),
    bytesPerRequest: sum(others),
    functions: others.slice(0, functionsMax).map(({ name, url, bytes }) => ({
      name: name === '' ? '(anonymous)' : name,
      file: ownFile(url),
      bytesPerRequest: bytes / requests,
    })),
  }
}

async function measure(table: string, seconds: number, folder: string): Promise<AllocationReport> {
  const opened = openTable(table)
  const scenario = scenarioNamed('ipv4-uniform')!
  const space = announcedSpace(opened.reader.views, 4)
  const { texts } = drawAddresses(scenario, { space, count: 50_000, seed: defaultSeed })
  opened.close()
  const requests = requestsOf(await createKey(folder), texts)
  const watched = join(folder, 'sampling')
  mkdirSync(watched)
  const server = await startIprisk({
    workers: 1,
    cores: undefined,
    folder,
    table,
    sampling: watched,
  })
  try {
    const load = chooseDriver(undefined).prepare(requests, folder)
    const run = { port: server.port, connections: 64, threads: 1, cores: undefined }
    await load({ ...run, seconds: warmupSeconds })
    writeFileSync(join(watched, 'start'), '')
    await pause(500)
    const { requests: count, errors } = await load({ ...run, seconds })
    if (errorCount(errors) > 0) throw new Error(`There were errors: ${JSON.stringify(errors)}`)
    writeFileSync(join(watched, 'stop'), '')
    const profile = join(watched, 'profile.json')
    for (let waited = 0; !existsSync(profile) && waited < waitMs; waited += 100) await pause(100)
    const allocated = JSON.parse(readFileSync(profile, 'utf8')) as readonly Allocated[]
    return {
      ...runHead(process.argv.slice(2)),
      kind: 'allocation',
      requests: count,
      ...sumUpAllocation(allocated, count),
    }
  } finally {
    await server.end()
  }
}

async function main(): Promise<number> {
  const text = { type: 'string' } as const
  const on = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    options: { table: text, seconds: text, smoke: on, json: on, save: on },
  })
  const seconds = wholeOption('seconds', values.seconds, {
    min: 1,
    max: 3600,
    otherwise: values.smoke ? 1 : 25,
  })
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-bench-allocation-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const report = await measure(tablePath(values.table), seconds, folder)
  const cells = report.functions.map(({ name, file, bytesPerRequest }) => [
    name,
    file === '' ? 'native' : file,
    bytesPerRequest.toFixed(1),
  ])
  const lines = [
    `${report.requests} requests: ${report.ownBytesPerRequest.toFixed(1)} bytes a request of our own, ` +
      `${report.bytesPerRequest.toFixed(1)} in all`,
    ...alignColumns([['function', 'file', 'bytes/req'], ...cells], 2),
  ]
  process.stdout.write(`${values.json ? JSON.stringify(report) : lines.join('\n')}\n`)
  if (values.save) say(`kept in ${saveRun(report, 'allocation')}`)
  return 0
}

await runProgram(main)
