// Figures out of a run, for the targets and the report alike: each name is computed
// in one place. `undefined` is what this run has not measured.

import type { Family } from '../../../src/ip/address.ts'
import { median, medianRatio } from '../../harness/statistics.ts'
import type { VariantName } from '../servers/variant.ts'
import type { RunParts } from './kept-run.ts'

export type Figure = number | undefined

type Measured = Partial<RunParts>

/** Nanoseconds a lookup: the median over the rounds. */
export function lookupNs(run: Measured, subject: string, scenario: string): Figure {
  return rowOf(run, subject, scenario)?.nsMedian
}

/** How many times as long `subject` takes as `base`: the median of the rounds' ratios. */
export function timesAsLong(
  run: Measured,
  scenario: string,
  { subject, base }: { readonly subject: string; readonly base: string },
): Figure {
  const own = rowOf(run, subject, scenario)
  const other = rowOf(run, base, scenario)
  if (own === undefined || other === undefined) return undefined
  return medianRatio({ values: own.rounds, base: other.rounds })
}

function rowOf(run: Measured, subject: string, scenario: string) {
  return run.lookup?.rows.find((row) => row.subject === subject && row.scenario === scenario)
}

function ratesOf(run: Measured, name: VariantName): readonly number[] {
  const own = (run.http?.rounds ?? []).filter(({ variant }) => variant === name)
  return own.toSorted((a, b) => a.round - b.round).map(({ load }) => load.requests / load.seconds)
}

/** Requests a second of `iprisk` over those of another variant. */
export function rateAgainst(run: Measured, name: VariantName): Figure {
  const values = ratesOf(run, 'iprisk')
  const base = ratesOf(run, name)
  return values.length === 0 || base.length === 0 ? undefined : medianRatio({ values, base })
}

export function peakRate(run: Measured, name: VariantName): Figure {
  const rates = ratesOf(run, name)
  return rates.length === 0 ? undefined : median(rates)
}

type SteadyAt = 'p50' | 'p99' | 'p999'

/** Microseconds at the offered rate: the median over the rounds. */
export function steadyUs(run: Measured, name: VariantName, at: SteadyAt): Figure {
  const own = (run.http?.steady.rounds ?? []).filter(({ variant }) => variant === name)
  return own.length === 0 ? undefined : median(own.map(({ load }) => load[at]))
}

/** Of `bare` as busy as iprisk, at the same share of its own peak. */
export function alikeUs(run: Measured, at: SteadyAt): Figure {
  const loads = run.http?.steady.alike?.loads ?? []
  return loads.length === 0 ? undefined : median(loads.map((load) => load[at]))
}

/** Milliseconds under few connections. */
export function fewMs(run: Measured, name: VariantName, at: SteadyAt): Figure {
  const own = (run.http?.few.rounds ?? []).filter(({ variant }) => variant === name)
  return own.length === 0 ? undefined : median(own.map(({ load }) => load.latencyUs[at])) / 1000
}

/** Of plain checks alone or beside a full pool: the median over the rounds. */
export function pooled(
  run: Measured,
  rounds: 'alone' | 'mixed',
  member: 'requestsPerSecond' | 'p99Ms',
): Figure {
  return run.pool === undefined ? undefined : median(run.pool[rounds].map((one) => one[member]))
}

/** Addresses a second of a command of the benchmark `bulk`. */
export function bulkRate(run: Measured, name: string): Figure {
  return run.bulk?.rows.find((row) => row.name === name)?.addressesPerSecond
}

/** The largest private memory of a worker, in MB of 2^20 bytes. */
export function workerMb(run: Measured): Figure {
  const workers = (run.memory?.rows ?? []).flatMap(({ processes }) => processes.slice(1))
  return workers.length === 0
    ? undefined
    : Math.max(...workers.map(({ privateDirty }) => privateDirty)) / 2 ** 20
}

/**
 * All processes' shares of the table's pages over the most that one has resident: 1 is one copy.
 */
export function tableCopies(run: Measured): Figure {
  const row = run.memory?.rows.at(-1)
  if (row === undefined) return undefined
  const shares = row.processes.reduce((sum, { tablePss }) => sum + tablePss, 0)
  return shares / Math.max(...row.processes.map(({ tableRss }) => tableRss))
}

export type GrowthLoad = 'uniform' | 'dependent'

/** The sizes of one family, ascending, for one distribution. */
export function growthRows(run: Measured, family: Family, distribution: GrowthLoad) {
  return (run.growth?.rows ?? [])
    .filter((row) => row.family === family && row.distribution === distribution)
    .filter(({ thinned }) => thinned !== true)
    .toSorted((a, b) => a.ranges - b.ranges)
}

/** A lookup among the most ranges over one among the real table's. */
export function growthRatio(run: Measured, family: Family, distribution: GrowthLoad): Figure {
  const rows = growthRows(run, family, distribution)
  const real = rows.find((row) => row.real)
  const most = rows.at(-1)
  if (real === undefined || most === undefined || most.real) return undefined
  return medianRatio({ values: most.rounds, base: real.rounds })
}

/** The same over one among few of the same boundaries: what size alone costs. */
export function growthRatioThinned(
  run: Measured,
  family: Family,
  distribution: GrowthLoad,
): Figure {
  const most = growthRows(run, family, distribution).at(-1)
  const thinned = run.growth?.rows.find(
    (row) => row.thinned === true && row.family === family && row.distribution === distribution,
  )
  if (thinned === undefined || most === undefined || most.real) return undefined
  return medianRatio({ values: most.rounds, base: thinned.rounds })
}

/** `1,234`, `12.3`, `0.123`: three digits that count. */
export function figureText(value: Figure, unit = ''): string {
  if (value === undefined) return 'not measured'
  const size = Math.abs(value)
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
  const text = value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  return unit === '' ? text : `${text} ${unit}`
}
