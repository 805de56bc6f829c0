// `npm run bench:allocation`: what the hot path leaves for the garbage collector, by heap sampling of
// a real worker under a million requests with a known key and a valid body. A function is charged with
// what is allocated while it is the innermost one in JavaScript, the strings and objects included that
// the binding makes at its call. So what is the binding's is measured too: by the same sampling of a
// server that makes a check's calls of the binding and does nothing else (bare.ts, `--calls`), under
// the same requests. The difference is our own.
//
//   --table FILE  --seconds 25 (of load)  --smoke  --json  --save

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { alignColumns } from '../src/base/column.ts'
import { tablePath, wholeOption } from './option.ts'
import { runProgram, say } from './program.ts'
import { type RunHead, runHead, saveRun } from './run.ts'
import { type Sampled, ownFile, sampler } from './sampled.ts'
import { startBare, startIprisk } from './variant.ts'

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
/** Of the answer that allocates nothing: as long as ours are. */
const answerBytes = 700

function bytesOf({ functions, requests }: Sampled): number {
  return functions.reduce((all, { sum }) => all + sum, 0) / requests
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
    functions: sampled.functions.slice(0, functionsMax).map(({ name, url, sum }) => ({
      name: name === '' ? '(anonymous)' : name,
      file: ownFile(url),
      bytesPerRequest: sum / requests,
    })),
  }
}

async function measure(table: string, seconds: number, folder: string): Promise<AllocationReport> {
  const sample = await sampler({ table, seconds, folder })
  const placed = { workers: 1, cores: undefined, folder }
  const own = await sample('heap', (sampling) => startIprisk({ ...placed, table, sampling }))
  const binding = await sample('heap', (sampling) =>
    startBare({ ...placed, bytes: answerBytes, calls: true, sampling }),
  )
  return { ...runHead(process.argv.slice(2)), kind: 'allocation', ...sumUpAllocation(own, binding) }
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
