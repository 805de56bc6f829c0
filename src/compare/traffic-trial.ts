// The trial of a new table by the operator's own traffic, before it is swapped in: how many of the
// sampled addresses it would decide otherwise than the table in use, by the policy that decided
// each of them; without policies, how many it would classify otherwise. `iprisk replay --sampled`
// shows the same in full.
//
// Both tables are asked with the own lists and the policies of now: only the table differs.

import { sampledChecksJudged } from '../base/limits.ts'
import { formatCount } from '../base/text/number-format.ts'
import { newDecisionMemory } from '../policy/decision-memory.ts'
import { compilePolicies } from '../policy/policy.ts'
import type { Policies } from '../model/policy-form.ts'
import type { OpenTable } from '../table/open-table.ts'
import type { SampledCheck } from '../observe/sample-file.ts'
import {
  type ComparedTable,
  actionOf,
  classOf,
  compareAddresses,
  isAbove,
  percentOf,
} from './comparison.ts'

/** What a table is tried with. Plain data: it goes to another process. */
export interface TrafficTrial {
  /** The file of the sample. */
  readonly sample: string
  readonly policies?: Policies | undefined
  /** Own lists, compiled. */
  readonly lists?: { readonly version: number; readonly path: string } | undefined
  /** The share that may change. */
  readonly maxPercent: number
}

export type TrialResult = NonNullable<ReturnType<typeof tryByTraffic>>

const changesShown = 5

/** `undefined` where too little was sampled to judge by. */
export function tryByTraffic(
  before: OpenTable,
  after: OpenTable,
  checks: readonly SampledCheck[],
  { policies, maxPercent }: Pick<TrafficTrial, 'policies' | 'maxPercent'>,
) {
  if (checks.length < sampledChecksJudged) return undefined
  const set = policies === undefined ? undefined : compilePolicies(policies)
  const sideOf = (table: OpenTable): ComparedTable => ({
    table,
    policy: set && { memory: newDecisionMemory(set, table.reader), index: set.defaultIndex },
  })
  const { compared, changed, changes } = compareAddresses(
    { before: sideOf(before), after: sideOf(after) },
    checks,
    (side, words, located, { policy }) => {
      if (set === undefined) return classOf(side.table, located)
      const index = set.indexOf(policy)
      // Policies may have been renamed since: then the default one decides, as it does for callers.
      return actionOf(side, words, located, index < 0 ? set.defaultIndex : index)
    },
  )
  return {
    counted: set === undefined ? ('classifications' as const) : ('decisions' as const),
    sampled: compared,
    changed,
    percent: percentOf(changed, compared),
    max_percent: maxPercent,
    /** The commonest changes. */
    changes: changes
      .slice(0, changesShown)
      .map(({ from, to, count }) => ({ from, to, checks: count })),
  }
}

/** Why a table must stay out; `undefined` where it may come in. */
export function trialFault(result: TrialResult | undefined): string | undefined {
  if (result === undefined) return undefined
  const { counted, sampled, changed, percent, max_percent: most, changes } = result
  if (!isAbove({ changed, compared: sampled }, most)) return undefined
  const texts = changes.map(({ from, to, checks }) => `${from} to ${to} ${formatCount(checks)}`)
  return (
    `of ${formatCount(sampled)} sampled addresses ${formatCount(changed)} (${percent} %) would get ` +
    `other ${counted} (${texts.join(', ')}); at most ${most} % may: "iprisk replay --sampled" shows ` +
    'them, "iprisk reload --force" takes the table all the same'
  )
}
