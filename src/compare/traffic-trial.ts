// The trial of a new table by the operator's own traffic, before it is swapped in: how many of the
// sampled checks it would decide otherwise than the table in use, by the policy that decided each
// of them; without policies, how many it would classify otherwise. `iprisk replay --sampled` shows
// the same in full.
//
// Both tables are asked with the own lists and the policies of now: only the table differs.

import { newAddressWords } from '../ip/address.ts'
import { parseAddress } from '../ip/parse-address.ts'
import { sampledChecksJudged } from '../base/limits.ts'
import { formatCount } from '../base/text/number-format.ts'
import { newDecisionMemory } from '../policy/decision-memory.ts'
import { type PolicySet, compilePolicies } from '../policy/policy.ts'
import type { Policies } from '../model/policy-form.ts'
import { locate, newLocated } from '../table/lookup/locate.ts'
import type { OpenTable } from '../table/open-table.ts'
import type { SampledCheck } from '../observe/sample-file.ts'
import { type ComparedTable, actionOf, classOf } from './compared-table.ts'

/** What a table is tried with. Plain data: it goes to another process. */
export interface TrafficTrial {
  /** The file of the sample. */
  readonly sample: string
  readonly policies?: Policies
  /** Own lists, compiled. */
  readonly lists?: { readonly version: number; readonly path: string }
  /** The share that may change. */
  readonly maxPercent: number
}

export interface TrialResult {
  readonly counted: 'decisions' | 'classifications'
  readonly sampled: number
  readonly changed: number
  readonly percent: number
  readonly max_percent: number
  /** The commonest changes, at most five. */
  readonly changes: readonly {
    readonly from: string
    readonly to: string
    readonly checks: number
  }[]
}

const changesShown = 5

/** `undefined` where too little was sampled to judge by. */
export function tryByTraffic(
  before: OpenTable,
  after: OpenTable,
  checks: readonly SampledCheck[],
  { policies, maxPercent }: Pick<TrafficTrial, 'policies' | 'maxPercent'>,
): TrialResult | undefined {
  if (checks.length < sampledChecksJudged) return undefined
  const set = policies === undefined ? undefined : compilePolicies(policies)
  const was = lookOf(before, set)
  const is = lookOf(after, set)
  const counts = new Map<string, number>()
  const words = newAddressWords()
  let changed = 0
  for (const { address, policy } of checks) {
    const family = parseAddress(address, words)
    if (family === 0) continue
    const [from, to] = [was(words, family, policy), is(words, family, policy)]
    if (from === to) continue
    changed += 1
    counts.set(`${from} ${to}`, (counts.get(`${from} ${to}`) ?? 0) + 1)
  }
  const changes = [...counts].sort(([, a], [, b]) => b - a).slice(0, changesShown)
  return {
    counted: set === undefined ? 'classifications' : 'decisions',
    sampled: checks.length,
    changed,
    percent: Math.round((1e6 * changed) / checks.length) / 1e4,
    max_percent: maxPercent,
    changes: changes.map(([key, checks]) => {
      const [from = '', to = ''] = key.split(' ')
      return { from, to, checks }
    }),
  }
}

type Look = (words: Uint32Array, family: 4 | 6, policy: string) => string

/** Says what a table does with an address: the action of a policy, or the classification. */
function lookOf(table: OpenTable, set: PolicySet | undefined): Look {
  const located = newLocated()
  const { views } = table.reader
  if (set === undefined) {
    return (words, family) => {
      locate(views, family, words, located)
      return classOf(table, located)
    }
  }
  const memory = newDecisionMemory(set, table.reader)
  const sides: readonly ComparedTable[] = set.policies.map((_, index) => ({
    table,
    policy: { memory, index },
  }))
  return (words, family, policy) => {
    locate(views, family, words, located)
    const index = set.indexOf(policy)
    // Policies may have been renamed since: then the default one decides, as it does for callers.
    return actionOf(sides[index < 0 ? set.defaultIndex : index]!, words, located)
  }
}

/** Why a table must stay out; `undefined` where it may come in. */
export function trialFault(result: TrialResult | undefined): string | undefined {
  if (result === undefined || result.changed * 100 <= result.max_percent * result.sampled) {
    return undefined
  }
  const { counted, sampled, changed, percent, max_percent: most, changes } = result
  const texts = changes.map(({ from, to, checks }) => `${from} to ${to} ${formatCount(checks)}`)
  return (
    `of ${formatCount(sampled)} sampled checks ${formatCount(changed)} (${percent} %) would get ` +
    `other ${counted} (${texts.join(', ')}); at most ${most} % may: "iprisk replay --sampled" shows ` +
    'them, "iprisk reload --force" takes the table all the same'
  )
}
