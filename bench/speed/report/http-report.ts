// The report of the benchmark `http`: its rounds summed up, and its shape. Pure; measuring is
// http.ts.

import { type LoadErrors, type LoadResult, errorCount } from '../load/load.ts'
import type { RunHead } from '../../harness/run.ts'
import type { AnswerSampleReport } from '../load/answer-sample.ts'
import { median, medianRatio, spread } from '../../harness/statistics.ts'
import type { SteadyResult } from '../load/steady.ts'
import type { VariantName } from '../servers/variant.ts'

/** One variant under load for one round. */
export interface HttpRound {
  readonly variant: VariantName
  readonly round: number
  readonly load: LoadResult
  /** Of the server's whole process tree; `null` where the system does not tell. */
  readonly cpuUs: number | null
}

export interface VariantReport {
  readonly name: VariantName
  /** All below are medians over the rounds, unless said otherwise. */
  readonly requestsPerSecond: number
  /** (highest - lowest) / median of the rounds' requests a second. */
  readonly spread: number
  readonly p50Us: number
  readonly p99Us: number
  readonly p999Us: number
  readonly cpuUsPerRequest: number | null
  /**
   * Processor time over the time of its workers' cores. Well below 1, it was the load generator
   * that could not do more, and the figures say little about the server.
   */
  readonly busy: number | null
  /** Median of the rounds' ratios. */
  readonly ratioToBare: number
  /** Sums. */
  readonly requests: number
  readonly errors: LoadErrors
  readonly samples: AnswerSampleReport
}

export interface HttpReport extends RunHead {
  readonly kind: 'http'
  readonly driver: string
  readonly cores: string
  readonly workers: number
  readonly connections: number
  readonly secondsPerRound: number
  readonly table: { readonly id: string; readonly bytes: number }
  readonly addresses: { readonly scenario: string; readonly count: number; readonly seed: number }
  /** Mean size of an answer's body, which is also the size of the bare one's. */
  readonly answerBytes: number
  readonly variants: readonly VariantReport[]
  /** What would stand beside these, and why it does not. */
  readonly skipped: readonly { readonly peer: string; readonly reason: string }[]
  readonly rounds: readonly HttpRound[]
  /** iprisk and bare under few connections. */
  readonly few: { readonly connections: number; readonly rounds: readonly HttpRound[] }
  readonly steady: SteadyReport
  readonly nginx: string | null
}

/** All that can take it, at the same offered rate. */
export interface SteadyReport {
  readonly rate: number
  readonly connections: number
  /** Why there are no rounds. */
  readonly reason: string | null
  readonly rounds: readonly {
    readonly variant: VariantName
    readonly round: number
    readonly load: SteadyResult
  }[]
  /** `bare` as busy as iprisk: at the same share of its own peak. */
  readonly alike?: { readonly rate: number; readonly loads: readonly SteadyResult[] }
}

/** `samples` has what was checked before and after, together. */
export function sumUpRounds(
  rounds: readonly HttpRound[],
  options: {
    readonly workers: number
    /** Those that were measured, in the order of the report. */
    readonly samples: ReadonlyMap<VariantName, AnswerSampleReport>
  },
): readonly VariantReport[] {
  const { samples, workers } = options
  const ofVariant = (name: VariantName): readonly HttpRound[] =>
    rounds.filter((round) => round.variant === name).toSorted((a, b) => a.round - b.round)
  const rates = (name: VariantName): readonly number[] =>
    ofVariant(name).map(({ load }) => load.requests / load.seconds)
  return [...samples].map(([name, sampled]) => {
    const own = ofVariant(name)
    const latency = (at: 'p50' | 'p99' | 'p999'): number =>
      median(own.map(({ load }) => load.latencyUs[at]))
    const cpu = (share: (load: LoadResult) => number): number | null => {
      const known = own.flatMap(({ cpuUs, load }) => (cpuUs === null ? [] : [cpuUs / share(load)]))
      return known.length === 0 ? null : median(known)
    }
    return {
      name,
      requestsPerSecond: median(rates(name)),
      spread: spread(rates(name)),
      p50Us: latency('p50'),
      p99Us: latency('p99'),
      p999Us: latency('p999'),
      cpuUsPerRequest: cpu((load) => load.requests),
      busy: cpu((load) => load.seconds * 1_000_000 * workers),
      ratioToBare: medianRatio({ values: rates(name), base: rates('bare') }),
      requests: own.reduce((sum, { load }) => sum + load.requests, 0),
      errors: own.map(({ load }) => load.errors).reduce(addErrors),
      samples: sampled,
    }
  })
}

function addErrors(a: LoadErrors, b: LoadErrors): LoadErrors {
  return {
    status: a.status + b.status,
    connect: a.connect + b.connect,
    read: a.read + b.read,
    write: a.write + b.write,
    timeout: a.timeout + b.timeout,
  }
}

/** All that must be 0: errors under load, wrong answers, and variants that answered nothing. */
export function faultCount(variants: readonly VariantReport[]): number {
  return variants.reduce(
    (sum, { errors, samples, requests }) =>
      sum + errorCount(errors) + samples.wrong.length + (requests === 0 ? 1 : 0),
    0,
  )
}
