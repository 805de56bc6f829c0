// Tries a new table on the operator's own traffic before it is swapped in: how many sampled
// addresses it would decide differently by the policy that decided them, or classify differently
// without policies. `iprisk replay --sampled` lists them.
//
// Both tables use the current own lists and policies: only the table differs.

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

/** Plain data: it goes to another process. */
export interface TrafficTrial {
  readonly sample: string
  readonly policies?: Policies | undefined
  /** Own lists, compiled. */
  readonly lists?: { readonly version: number; readonly path: string } | undefined
  /** The percentage that may change. */
  readonly maxPercent: number
}

export type TrialResult = NonNullable<ReturnType<typeof tryByTraffic>>

const changesShown = 5

/** `undefined` if the sample is too small. */
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
      // A policy may have been renamed since: the default one decides, as it does for callers.
      return actionOf(side, words, located, index < 0 ? set.defaultIndex : index)
    },
  )
  return {
    counted: set === undefined ? ('classifications' as const) : ('decisions' as const),
    sampled: compared,
    changed,
    percent: percentOf(changed, compared),
    max_percent: maxPercent,
    changes: changes
      .slice(0, changesShown)
      .map(({ from, to, count }) => ({ from, to, checks: count })),
  }
}

/** Why a table is refused; `undefined` if it is not. */
export function trialFault(result: TrialResult | undefined): string | undefined {
  if (result === undefined) return undefined
  const { counted, sampled, changed, percent, max_percent: most, changes } = result
  if (!isAbove({ changed, compared: sampled }, most)) return undefined
  const texts = changes.map(({ from, to, checks }) => `${from} to ${to} ${formatCount(checks)}`)
  return (
    `of ${formatCount(sampled)} sampled addresses ${formatCount(changed)} (${percent} %) would get ` +
    `other ${counted} (${texts.join(', ')}); the limit is ${most} %: "iprisk replay --sampled" shows ` +
    'them, "iprisk reload --force" loads the table anyway'
  )
}
