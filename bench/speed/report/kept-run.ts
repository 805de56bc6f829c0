// A kept run as it lies in bench/runs/<day>-<cpu>/: one file of raw data a part. What a run has not
// measured is absent, and the report says so.

import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { GateReport } from '../features/gate.ts'
import type { AllocationReport } from '../allocation.ts'
import type { BulkReport } from '../bulk.ts'
import type { GrowthReport } from '../growth.ts'
import type { LookupReport } from '../lookup.ts'
import type { MemoryReport } from '../memory.ts'
import type { PoolReport } from '../pool.ts'
import type { ProfileReport } from '../profile.ts'
import type { HttpReport } from './http-report.ts'
import type { RunHead } from '../../harness/run.ts'
import type { StartReport } from '../start.ts'
import type { WorldReport } from '../world.ts'

export interface RunParts {
  readonly lookup: LookupReport
  readonly http: HttpReport
  readonly memory: MemoryReport
  readonly start: StartReport
  readonly growth: GrowthReport
  readonly world: WorldReport
  readonly allocation: AllocationReport
  readonly profile: ProfileReport
  readonly pool: PoolReport
  readonly bulk: BulkReport
}
export type PartName = keyof RunParts

export const partNames = [
  'lookup',
  'http',
  'allocation',
  'profile',
  'pool',
  'bulk',
  'memory',
  'start',
  'growth',
  'world',
] as const

export interface BenchRun extends Partial<RunParts> {
  /** The folder's name. */
  readonly name: string
  readonly all: AllReport
  /** Measured by itself: of this run's processor, the newest. */
  readonly gate?: GateReport
}

/** The run as a whole: what was asked for, and what could not be measured. */
export interface AllReport extends RunHead {
  readonly kind: 'all'
  readonly short: boolean
  readonly seconds: Readonly<Partial<Record<PartName, number>>>
  readonly skipped: readonly { readonly part: PartName; readonly reason: string }[]
}

/** Throws where the folder holds no run. */
export function readRun(folder: string): BenchRun {
  const read = (name: string): unknown => {
    const path = join(folder, `${name}.json`)
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
  }
  const all = read('all') as AllReport | undefined
  if (all === undefined) throw new Error(`${folder} has no all.json: it holds no run.`)
  const parts = Object.fromEntries(
    partNames.map((name) => [name, read(name)]).filter(([, part]) => part !== undefined),
  ) as Partial<RunParts>
  const gate = gatesOf(dirname(folder)).findLast(({ machine }) => machine.cpu === all.machine.cpu)
  return { name: basename(folder), all, ...parts, ...(gate && { gate }) }
}

/** In the order of their days. */
function gatesOf(runs: string): readonly GateReport[] {
  return readdirSync(runs)
    .toSorted()
    .map((name) => join(runs, name, 'gate.json'))
    .filter((path) => existsSync(path))
    .map((path) => JSON.parse(readFileSync(path, 'utf8')) as GateReport)
}

/**
 * The newest folder of `runs` that holds a run, a definitive one before any short one; `undefined`
 * where none does.
 */
export function newestRun(runs: string): string | undefined {
  return ranked(runs).at(-1)?.folder
}

/** Of each other processor than the run's own the newest definitive run beside it, by its name. */
export function runsElsewhere(folder: string): readonly BenchRun[] {
  const { cpu: own } = readRun(folder).all.machine
  const newest = new Map<string, string>()
  for (const { folder: other, cpu, short } of ranked(dirname(folder))) {
    if (cpu !== own && !short) newest.set(cpu, other)
  }
  return [...newest].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, other]) => readRun(other))
}

/** All runs, the newest definitive one last. */
function ranked(
  runs: string,
): readonly { readonly folder: string; readonly cpu: string; readonly short: boolean }[] {
  if (!existsSync(runs)) return []
  const found = readdirSync(runs).filter((name) => existsSync(join(runs, name, 'all.json')))
  return found
    .map((name) => {
      const folder = join(runs, name)
      const { short, at, machine } = readRun(folder).all
      return { folder, cpu: machine.cpu, short, rank: `${short ? 0 : 1} ${at}` }
    })
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
}
