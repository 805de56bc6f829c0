// The newest cross evaluation, kept beside the code as docs/evaluation/newest.json: what was found,
// by which machine, on which day, and a summary of the runs before. evaluation-report.ts makes the
// page that people read.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { leftOutKinds, type LeftOut } from '../evaluation/leave-one-out.ts'
import type { SignalSpace } from '../calibration/weight-effect.ts'
import type { RecentEvaluation } from '../evaluation/leave-last-days-out.ts'
import type { AccessSpace } from '../world/address-space.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import type { Kind } from '../../../src/model/kind.ts'
import { usageError } from '../../harness/option.ts'
import type { RunHead } from '../../harness/run.ts'

export const evaluationFolder = join(packageRoot, 'docs', 'evaluation')
const fileName = 'newest.json'

/** What one evaluation found. */
export interface CrossEvaluation {
  /** False alarms of the world, every feed speaking. */
  readonly access: AccessSpace
  readonly signals: readonly SignalSpace[]
  readonly leaveOneOut: readonly LeftOut[]
  readonly recent: RecentEvaluation | undefined
}

/** Over all feeds of a kind: what the others still say of its entries without the feed's group. */
export interface KindSummary {
  readonly kind: Kind
  readonly entries: number
  /** Entries, by shares of their addresses. */
  readonly signal: number
  readonly flagged: number
}

/** What stays of a run when a newer one takes its place. */
export interface EvaluationSummary extends Pick<CrossEvaluation, 'access' | 'signals'> {
  readonly name: string
  /** What was new in it, one phrase. */
  readonly title: string
  readonly at: string
  readonly kinds: readonly KindSummary[]
}

export interface KeptEvaluation extends RunHead, CrossEvaluation {
  readonly name: string
  readonly title: string
  /** The runs before, the oldest first. */
  readonly earlier: readonly EvaluationSummary[]
}

export function summaryOf(run: KeptEvaluation): EvaluationSummary {
  const { name, title, at, access, signals, leaveOneOut } = run
  const kinds = leftOutKinds.map((kind): KindSummary => {
    const rows = leaveOneOut.filter((row) => row.kind === kind)
    const sum = (of: (row: LeftOut) => number): number =>
      rows.reduce((total, row) => total + of(row), 0)
    return {
      kind,
      entries: sum(({ entries }) => entries),
      signal: sum(({ entries, withoutGroup }) => entries * withoutGroup.signal.share),
      flagged: sum(({ entries, withoutGroup }) => entries * withoutGroup.flagged.share),
    }
  })
  return { name, title, at, access, signals, kinds }
}

/** Six decimals of a share: finer than any interval. NaN, of nothing, becomes null. */
function rounded(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value
  return Number.isNaN(value) ? null : Number(value.toFixed(6))
}

/** Keeps the run in the place of the one before, of which a summary stays; gives the path. */
export function saveEvaluation(folder: string, run: Omit<KeptEvaluation, 'earlier'>): string {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, fileName)
  const before = existsSync(path) ? readEvaluation(folder) : undefined
  const summaries = before === undefined ? [] : [...before.earlier, summaryOf(before)]
  const earlier = summaries.filter(({ name }) => name !== run.name)
  writeFileSync(path, `${JSON.stringify({ ...run, earlier }, rounded)}\n`)
  return path
}

/** Throws `usage` where none is kept. */
export function readEvaluation(folder: string): KeptEvaluation {
  const path = join(folder, fileName)
  if (!existsSync(path)) {
    throw usageError(`${folder} holds no evaluation: make one with --cross --keep NAME.`)
  }
  return JSON.parse(readFileSync(path, 'utf8')) as KeptEvaluation
}
