// The other words that a verdict might have had: every class whose kind has any strength and that
// is not the class itself. Privacy relays and blocklists make no class and so are no alternative.

import type { Classification, Confidence } from '../../model/kind.ts'
import { confidenceOf } from '../finding/confidence.ts'
import type { Findings, ScoredKind } from '../finding/finding.ts'

export interface Alternative {
  readonly classification: Classification
  /** 0 to 1; from 0.25 on the kind's signal is true. */
  readonly strength: number
  readonly confidence: Confidence
}

const classKinds = [
  { kind: 'tor', classification: 'tor' },
  { kind: 'residential_proxy', classification: 'residential_proxy' },
  { kind: 'vpn', classification: 'vpn' },
  { kind: 'proxy', classification: 'proxy' },
  { kind: 'hosting', classification: 'hosting' },
  { kind: 'bot', classification: 'known_bot' },
] as const satisfies readonly {
  readonly kind: ScoredKind
  readonly classification: Classification
}[]

/** The strongest first; equally strong ones in the order of the classes. */
export function alternativesOf(
  findings: Findings,
  classification: Classification,
): readonly Alternative[] {
  return classKinds
    .filter((one) => one.classification !== classification && findings[one.kind].strength > 0)
    .map((one) => {
      const { strength, counted, inferred } = findings[one.kind]
      const confidence = confidenceOf(counted, inferred)
      return { classification: one.classification, strength, confidence }
    })
    .toSorted((a, b) => b.strength - a.strength)
}
