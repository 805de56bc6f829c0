// `npm run bench -- allocation`: what the hot path leaves for the garbage collector, by heap
// sampling of a real worker under a million requests with a known key and a valid body. A function
// is charged with what is allocated while it is the innermost one in JavaScript, the strings and
// objects included that the binding makes at its call. So what is the binding's is measured too: by
// the same sampling of a server that makes a check's native calls and does nothing else (bare.ts,
// `--calls`), under the same requests. The difference is our own.
//
//   --table FILE  --seconds 25 (of load)  --smoke  --json  --save

import { runProgram } from '../harness/program.ts'
import { type RunHead, runHead } from '../harness/run.ts'
import { type SampledProfile, type Sampling, productFile, runSampling } from './servers/sampled.ts'
import { startBare, startIprisk } from './servers/variant.ts'

export interface AllocationReport extends RunHead {
  readonly kind: 'allocation'
  readonly requests: number
  /** Beyond `bindingBytesPerRequest`. */
  readonly ownBytesPerRequest: number
  readonly bytesPerRequest: number
  /** Of a server that makes the same native calls and does nothing else. */
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

function bytesOf({ functions, requests }: SampledProfile): number {
  return functions.reduce((all, { sum }) => all + sum, 0) / requests
}

export function sumUpAllocation(
  sampled: SampledProfile,
  calls: SampledProfile,
): Omit<AllocationReport, keyof RunHead | 'kind'> {
  const { requests } = sampled
  const bytesPerRequest = bytesOf(sampled)
  const bindingBytesPerRequest = bytesOf(calls)
  return {
    requests,
    ownBytesPerRequest: bytesPerRequest - bindingBytesPerRequest,
    bytesPerRequest,
    bindingBytesPerRequest,
    functions: sampled.functions.slice(0, functionsMax).map((one) => ({
      name: one.name === '' ? '(anonymous)' : one.name,
      file: productFile(one),
      bytesPerRequest: one.sum / requests,
    })),
  }
}

async function measure({ table, sample, placed }: Sampling): Promise<AllocationReport> {
  const own = await sample('heap', (sampling) => startIprisk({ ...placed, table, sampling }))
  const binding = await sample('heap', (sampling) =>
    startBare({ ...placed, bytes: answerBytes, calls: true, sampling }),
  )
  return { ...runHead(process.argv.slice(2)), kind: 'allocation', ...sumUpAllocation(own, binding) }
}

await runProgram(() => runSampling('allocation', 25, measure))
