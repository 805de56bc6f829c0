// Cross evaluations that are kept beside the code, docs/evaluation/<name>.json: what was found, by
// which machine, on which day. Their names order them: the first is what the others are compared
// with. Not the page that people read: evaluation-report.ts.

import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LeftOut } from '../evaluation/leave-one-out.ts'
import type { SignalSpace } from '../calibration/weight-effect.ts'
import type { RecentEvaluation } from '../evaluation/leave-last-days-out.ts'
import type { AccessSpace } from '../world/address-space.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import { usageError } from '../../harness/option.ts'
import type { RunHead } from '../../harness/run.ts'

export const evaluationFolder = join(packageRoot, 'docs', 'evaluation')

/** What one evaluation found. */
export interface CrossEvaluation {
  /** False alarms of the world, every feed speaking. */
  readonly access: AccessSpace
  readonly signals: readonly SignalSpace[]
  readonly leaveOneOut: readonly LeftOut[]
  readonly recent: RecentEvaluation | undefined
}

export interface KeptEvaluation extends RunHead, CrossEvaluation {
  readonly name: string
  /** What is new in it, one phrase. */
  readonly title: string
}

/** Six decimals of a share: finer than any interval. NaN, of nothing, becomes null. */
function rounded(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value
  return Number.isNaN(value) ? null : Number(value.toFixed(6))
}

export function saveEvaluation(folder: string, run: KeptEvaluation): string {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${run.name}.json`)
  writeFileSync(path, `${JSON.stringify(run, rounded, 1)}\n`)
  return path
}

/** All that are kept, by name. Throws `usage` where there is none. */
export function readEvaluations(folder: string): readonly KeptEvaluation[] {
  const found = existsSync(folder) ? readdirSync(folder) : []
  const names = found.filter((name) => name.endsWith('.json'))
  if (names.length === 0) {
    throw usageError(`${folder} holds no evaluation: make one with --cross --keep NAME.`)
  }
  return names
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as KeptEvaluation)
}
