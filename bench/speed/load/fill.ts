// Plain checks while other loads keep a worker's pool full, and who has the cores meanwhile.

import { setTimeout as sleep } from 'node:timers/promises'
import { type ThreadCpu, endedCpu, threadCpu } from '../../harness/cpu.ts'
import type { LoadResult } from './load.ts'

/** Cores, two of which there are where two are shared. */
export interface CpuShares {
  readonly loop: number
  readonly pool: number
  /** Garbage collection and the like, in the worker. */
  readonly helpers: number
  /** The load generator of the checks. */
  readonly load: number
  /** The load generators of what fills the pool. */
  readonly clients: number
}

/** A load of so many whole seconds. */
export type TimedLoad = (seconds: number) => Promise<LoadResult>

export interface FullPoolRound {
  readonly checks: LoadResult
  readonly insights: LoadResult
  readonly batches: LoadResult
  /** `undefined` where the system does not tell. */
  readonly shares: CpuShares | undefined
}

/**
 * What fills the pool begins before the checks and ends after them: their generator gets ready on
 * busy cores. Both together are whole seconds.
 */
const leadMs = 500
const lagMs = 2500

/** Throws where the pool was not full to the end of the checks. `worker` is the pool's process. */
export async function runBesideFullPool(
  worker: number | undefined,
  loads: Readonly<Record<'checks' | 'insights' | 'batches', TimedLoad>>,
  seconds: number,
): Promise<FullPoolRound> {
  const longer = seconds + (leadMs + lagMs) / 1000
  const filling = [loads.insights(longer), loads.batches(longer)] as const
  let isFull = true
  const notFull = (): void => void (isFull = false)
  for (const one of filling) one.then(notFull, notFull)
  const measuring = async () => {
    await sleep(leadMs)
    const [before, fromMs] = [readCpu(worker), performance.now()]
    const checks = await loads.checks(seconds)
    if (!isFull) throw new Error('What fills the pool ended before the checks did.')
    const [after, toMs] = [readCpu(worker), performance.now()]
    return { checks, before, after, tookMs: toMs - fromMs }
  }
  const [measured, insights, batches] = await Promise.all([measuring(), ...filling])
  const { checks, before, after, tookMs } = measured
  const last = readCpu(worker)
  if (before === undefined || after === undefined || last === undefined) {
    return { checks, insights, batches, shares: undefined }
  }
  const of = (name: keyof Cpu): number => (after[name] - before[name]) / 1000 / tookMs
  const clients = (last.ended - after.ended) / 1e6 / longer
  const shares = { loop: of('loop'), pool: of('pool'), helpers: of('other'), load: of('ended') }
  return { checks, insights, batches, shares: { ...shares, clients } }
}

/** Microseconds so far. */
interface Cpu extends ThreadCpu {
  /** Of load generators that have ended. */
  readonly ended: number
}

function readCpu(worker: number | undefined): Cpu | undefined {
  const threads = worker === undefined ? undefined : threadCpu(worker)
  const ended = endedCpu()
  return threads === undefined || ended === undefined ? undefined : { ...threads, ended }
}
