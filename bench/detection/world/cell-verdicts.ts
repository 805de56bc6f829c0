// Verdicts of a world's cells, as they are or as they would be: without some feeds, or with other
// weights. The model is the product's own (src/score); nothing is weighed here.

import type { Evidence, Voice } from '../../../src/model/evidence.ts'
import type { Verdict } from '../../../src/model/verdict.ts'
import { judge } from '../../../src/score/judge.ts'
import { inferredVpnId } from '../../../src/score/weight/weigh-evidence.ts'
import type { Cell, World } from './cells.ts'
import { inferredWithout } from './inferred-without.ts'

export interface EvidenceChange {
  /** Feeds whose statements do not count. */
  readonly without?: ReadonlySet<string> | undefined
  /** Single statements that do not count. */
  readonly isLeftOut?: ((evidence: Evidence) => boolean) | undefined
  /** Weights by feed, in place of the catalogue's. */
  readonly weights?: ReadonlyMap<string, number> | undefined
}

/** A judge of cells; each distinct pair of network and meaning is judged once. */
export function newCellJudge(world: World, change: EvidenceChange = {}): (cell: Cell) => Verdict {
  const { weights, isLeftOut } = change
  const without =
    change.without === undefined && isLeftOut === undefined
      ? undefined
      : (evidence: Evidence): boolean =>
          change.without?.has(evidence.voice.id) === true || isLeftOut?.(evidence) === true
  const stillInferred = without && inferredWithout(world, without)
  const verdicts = new Map<string, Verdict>()
  const meanings = new Map<number, string>()
  const voices = new Map<Voice, Voice>()

  /** Statements that still count; their numbers in the book are their meaning's key. */
  function idsOf(list: number): readonly number[] {
    const ids = world.lists.lists[list - 1] ?? []
    if (without === undefined) return ids
    return ids.filter((id) => {
      const { evidence, range } = world.book.at(id)
      if (without(evidence)) return false
      return evidence.voice.id !== inferredVpnId || stillInferred?.(range!) === true
    })
  }

  function meaningOf(list: number): string {
    const known = meanings.get(list)
    if (known !== undefined) return known
    const ids = idsOf(list).map((id) => world.book.meaning(id))
    const meaning = [...new Set(ids)].sort((a, b) => a - b).join()
    meanings.set(list, meaning)
    return meaning
  }

  function changed(evidence: Evidence): Evidence {
    const weight = weights?.get(evidence.voice.id)
    if (weight === undefined) return evidence
    const voice = voices.get(evidence.voice) ?? { ...evidence.voice, weight }
    voices.set(evidence.voice, voice)
    return { ...evidence, voice }
  }

  return ({ network, list }) => {
    const key = `${network} ${meaningOf(list)}`
    const known = verdicts.get(key)
    if (known !== undefined) return known
    const ofAs = world.asEvidence(network).filter((evidence) => without?.(evidence) !== true)
    const evidence = [...idsOf(list).map((id) => world.book.at(id).evidence), ...ofAs]
    const verdict = judge({
      evidence: weights === undefined ? evidence : evidence.map(changed),
      network: world.networks[network - 1],
      asOf: world.asOf,
    })
    verdicts.set(key, verdict)
    return verdict
  }
}
