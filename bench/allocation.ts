// `npm run bench:allocation`: what the hot path leaves for the garbage collector, by heap sampling of
// a real worker under a million requests with a known key and a valid body. A function is charged with
// what is allocated while it is the innermost one in JavaScript, the strings and objects included that
// the binding makes at its call. So what is the binding's is measured too: by the same sampling of a
// server that makes a check's calls of the binding and does nothing else (bare.ts, `--calls`), under
// the same requests. The difference is our own.
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
import { type LoadResult, errorCount } from './load.ts'
import { tablePath, wholeOption } from './option.ts'
import { runProgram, say } from './program.ts'
import { requestsOf } from './request.ts'
import { type RunHead, runHead, saveRun } from './run.ts'
import type { Allocated } from './sampling.ts'
import { defaultSeed, drawAddresses, scenarioNamed } from './scenario.ts'
import { type Variant, createKey, startBare, startIprisk } from './variant.ts'

export interface AllocationReport extends RunHead {
  readonly kind: 'allocation'
  readonly requests: number
  /** Beyond `bindingBytesPerRequest`. */
  readonly ownBytesPerRequest: number
  readonly bytesPerRequest: number
  /** Of a server that makes the same calls of the binding and does nothing else. */
  readonly bindingBytesPerRequest: number
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
/** Requests before the sampling, at most as long as it: compiled by then. */
const warmupSeconds = 3
/** Of the answer that allocates nothing: as long as ours are. */
const answerBytes = 700

/** The path inside the product, or '' for the rest. */
function ownFile(url: string): string {
  return /\/dist\/(src\/[^?]+)$/.exec(url)?.[1] ?? ''
}

/** What a server has allocated under load. */
export interface Sampled {
  readonly allocated: readonly Allocated[]
  readonly requests: number
}

/** The sampler's own looking is none of a server's. */
function ofServer({ allocated }: Sampled): readonly Allocated[] {
  return allocated.filter(({ url }) => !url.endsWith('/dist/bench/sampling.js'))
}

function bytesOf(sampled: Sampled): number {
  return ofServer(sampled).reduce((all, { bytes }) => all + bytes, 0) / sampled.requests
}

export function sumUpAllocation(
  sampled: Sampled,
  calls: Sampled,
): Omit<AllocationReport, keyof RunHead | 'kind'> {
  const { requests } = sampled
  const bytesPerRequest = bytesOf(sampled)
  const bindingBytesPerRequest = bytesOf(calls)
  return {
    requests,
    ownBytesPerRequest: bytesPerRequest - bindingBytesPerRequest,
    bytesPerRequest,
    bindingBytesPerRequest,
    functions: ofServer(sampled)
      .slice(0, functionsMax)
      .map(({ name, url, bytes }) => ({
        name: name === '' ? '(anonymous)' : name,
        file: ownFile(url),
        bytesPerRequest: bytes / requests,
      })),
  }
}

type Load = (port: number, seconds: number) => Promise<LoadResult>

/** Loads a server, samples what it allocates meanwhile, and ends it. */
async function sample(
  server: Variant,
  how: { readonly watched: string; readonly load: Load; readonly seconds: number },
): Promise<Sampled> {
  const { watched, load, seconds } = how
  try {
    await load(server.port, Math.min(warmupSeconds, seconds))
    writeFileSync(join(watched, 'start'), '')
    await pause(500)
    const { requests, errors } = await load(server.port, seconds)
    if (errorCount(errors) > 0) throw new Error(`There were errors: ${JSON.stringify(errors)}`)
    writeFileSync(join(watched, 'stop'), '')
    const profile = join(watched, 'profile.json')
    for (let waited = 0; !existsSync(profile) && waited < waitMs; waited += 100) await pause(100)
    return {
      allocated: JSON.parse(readFileSync(profile, 'utf8')) as readonly Allocated[],
      requests,
    }
  } finally {
    await server.end()
  }
}

async function measure(table: string, seconds: number, folder: string): Promise<AllocationReport> {
  const opened = openTable(table)
  const scenario = scenarioNamed('ipv4-uniform')!
  const space = announcedSpace(opened.reader.views, 4)
  const { texts } = drawAddresses(scenario, { space, count: 50_000, seed: defaultSeed })
  opened.close()
  const requests = requestsOf(await createKey(folder), texts)
  const offer = chooseDriver(undefined).prepare(requests, folder)
  const run = { connections: 64, threads: 1, cores: undefined }
  const load: Load = (port, part) => offer({ ...run, port, seconds: part })
  const placed = { workers: 1, cores: undefined, folder }
  const watch = (name: string): string => {
    const watched = join(folder, name)
    mkdirSync(watched)
    return watched
  }
  const own = watch('own')
  const iprisk = await startIprisk({ ...placed, table, sampling: own })
  const sampled = await sample(iprisk, { watched: own, load, seconds })
  const calls = watch('calls')
  const bare = await startBare({ ...placed, bytes: answerBytes, callsSampling: calls })
  const binding = await sample(bare, { watched: calls, load, seconds })
  return {
    ...runHead(process.argv.slice(2)),
    kind: 'allocation',
    ...sumUpAllocation(sampled, binding),
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
    `${report.requests} requests: ${report.bytesPerRequest.toFixed(1)} bytes a request, ` +
      `${report.bindingBytesPerRequest.toFixed(1)} of them the binding's, ` +
      `${report.ownBytesPerRequest.toFixed(1)} our own`,
    ...alignColumns([['function', 'file', 'bytes/req'], ...cells], 2),
  ]
  process.stdout.write(`${values.json ? JSON.stringify(report) : lines.join('\n')}\n`)
  if (values.save) say(`kept in ${saveRun(report, 'allocation')}`)
  return 0
}

await runProgram(main)
