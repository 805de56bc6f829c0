// The published set `bouncer` (contract 6.3): what the default policy decides other than `allow`, by
// action and rule.
//
// Bogons are left out: a firewall that blocked private addresses would cut its machine off.

import type { Policies } from '../../model/policy-form.ts'
import { decide, newDecisionMemory } from '../../policy/decision-memory.ts'
import { compilePolicies } from '../../policy/policy.ts'
import { type LabelOf, outside, publishedSet } from '../../sets/published-set.ts'
import type { MadeSet } from '../../sets/next-generation.ts'
import type { SetLabel } from '../../sets/set-folder.ts'
import type { AnswerReader } from '../../table/answer/answer-reader.ts'

export function bouncerSet(
  reader: AnswerReader,
  how: {
    readonly policies: Policies
    /** Labels that have numbers already. */
    readonly known: readonly SetLabel[]
    readonly prefixesMax: number
  },
): Pick<MadeSet, 'records' | 'labels'> {
  const labels = [...how.known]
  const records = publishedSet(reader, newLabelOf(reader, how.policies, labels), how.prefixesMax)
  return { records: records.words(), labels }
}

/** Adds to `labels` what it finds. */
function newLabelOf(reader: AnswerReader, policies: Policies, labels: SetLabel[]): LabelOf {
  const set = compilePolicies(policies)
  const { defaultIndex } = set
  const memory = newDecisionMemory(set, reader)
  const places = new Map(labels.map(({ action, rule }, at) => [`${action}\t${rule}`, at]))
  const known: number[] = []
  const learn = (number: number): number => {
    const { action, rule } = set.policies[defaultIndex]!.outcomes[number]!.decision
    if (action === 'allow') return outside
    const name = `${action}\t${rule}`
    let place = places.get(name)
    if (place === undefined) {
      place = labels.push({ action, rule }) - 1
      places.set(name, place)
    }
    return place
  }
  return (words, located) => {
    if (located.bogon || defaultIndex < 0) return outside
    const number = decide(memory, defaultIndex, words, located)
    return (known[number] ??= learn(number))
  }
}
