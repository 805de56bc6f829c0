// MODEL.md cannot rot: every worked example in it is recomputed from its JSON block.

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Network } from '../../src/model/network.ts'
import type { Sample } from './evidence-sample.ts'
import { judged, networkOf, signalsOf } from './evidence-sample.ts'

interface Example {
  readonly network: Partial<Network>
  readonly evidence: readonly Sample[]
  readonly verdict: {
    readonly classification: string
    readonly score: number
    readonly signals: readonly string[]
    readonly reasons: readonly (readonly [string, number])[]
  }
}

const text = readFileSync(new URL('../../src/score/MODEL.md', import.meta.url), 'utf8')
const examples = [...text.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(
  ([, json]) => JSON.parse(json ?? '') as Example,
)

it('finds the examples', () => {
  expect(examples.length).toBeGreaterThanOrEqual(8)
})

it.each(examples.map((example) => [example.verdict.reasons[0]?.[0], example] as const))(
  'recomputes the example that begins with %s',
  (_, { network, evidence, verdict }) => {
    const actual = judged(evidence, networkOf(network))
    expect({
      classification: actual.classification,
      score: actual.score,
      signals: signalsOf(actual),
      reasons: actual.reasons.map(({ code, points }) => [code, points]),
    }).toEqual(verdict)
  },
)
