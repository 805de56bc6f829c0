// One measurement of one subject on one scenario: a loop of its own, tinybench around chunks of it,
// nanoseconds an address. A chunk at a time, because one lookup is shorter than the clock can tell.

import { Bench } from 'tinybench'
import type { Step } from './loop.ts'
import type { Addresses, Scenario } from './scenario.ts'

/** Addresses of a chunk: some tens of microseconds at the least. */
export const chunkAddresses = 1024

/** For one address: the median, mean and 99th percentile over chunks. */
export interface Timing {
  readonly nsMedian: number
  readonly nsMean: number
  readonly nsP99: number
  readonly chunks: number
}

/** One scenario's work, ready to be measured again and again. */
export interface PreparedScenario {
  readonly time: (milliseconds: number) => Promise<Timing>
  /** The sum over all addresses in their order. */
  readonly sum: () => Promise<number>
}

/** An implementation that is measured beside others. */
export interface BenchSubject {
  readonly name: string
  readonly title: string
  /** Subjects of one group must find the same sum on the same scenario. */
  readonly group?: string
  readonly prepare: (scenario: Scenario, addresses: Addresses) => Promise<PreparedScenario>
  readonly end?: () => Promise<void>
}

type Pass = (step: Step, first: number, end: number) => number

/** More memory than the caches of one processor hold. */
const coldBytes = 64 << 20
/** Emptying the caches takes longer than what is measured: this many chunks a round. */
const coldChunks = { measured: 12, smoke: 2 } as const
/** A round below this only shows that a subject works. */
const measuredMsMin = 5

/** A subject that runs in this process. */
export async function prepareInProcess(
  name: string,
  scenario: Scenario,
  options: { readonly addresses: Addresses; readonly step: Step },
): Promise<PreparedScenario> {
  const { addresses, step } = options
  // A module of its own, so that the loop knows no step but this one.
  const at = new URL(`./loop.js?${name}-${scenario.name}`, import.meta.url).href
  const loop = (await import(at)) as Readonly<Record<'pass' | 'dependentPass', Pass>>
  const pass = scenario.distribution === 'dependent' ? loop.dependentPass : loop.pass
  return {
    sum: () => Promise.resolve(pass(step, 0, addresses.count)),
    time: (milliseconds) =>
      timeChunks(scenario, milliseconds, newChunks(addresses.count, pass, step)),
  }
}

/** Runs the next chunk each time it is called; gives its sum. */
function newChunks(count: number, pass: Pass, step: Step): () => number {
  let first = 0
  return () => {
    const sum = pass(step, first, first + chunkAddresses)
    first = (first + chunkAddresses) % count
    return sum
  }
}

async function timeChunks(
  { name, cold }: Scenario,
  milliseconds: number,
  next: () => number,
): Promise<Timing> {
  let sink = 0
  const short = milliseconds < measuredMsMin
  const bench = new Bench({
    time: cold ? 0 : milliseconds,
    warmupTime: milliseconds / 5,
    ...(cold ? { iterations: short ? coldChunks.smoke : coldChunks.measured } : {}),
    ...(short ? { warmupIterations: 1 } : {}),
  })
  bench.add(
    name,
    () => {
      sink ^= next()
    },
    cold ? { beforeEach: emptyCaches } : {},
  )
  const [task] = await bench.run()
  const result = task?.result
  if (result?.state !== 'completed') throw new Error(`${name} did not complete (sum ${sink}).`)
  const { latency } = result
  const nanoseconds = (chunkMs: number): number => (chunkMs * 1_000_000) / chunkAddresses
  return {
    nsMedian: nanoseconds(latency.p50),
    nsMean: nanoseconds(latency.mean),
    nsP99: nanoseconds(latency.p99),
    chunks: latency.samplesCount,
  }
}

let other: Uint32Array | undefined

/** Reads so much other memory that nothing else is left in the caches. */
function emptyCaches(): void {
  other ??= new Uint32Array(coldBytes / 4).fill(1)
  let sum = 0
  for (let at = 0; at < other.length; at += 16) sum += other[at]!
  if (sum === 0) throw new Error('The caches were not emptied.')
}
