import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newEvidenceBook } from '../../build/evidence/evidence-book.ts'
import { newVerdictBook } from '../../build/judge-evidence.ts'
import { newListInterner } from '../../build/layer/flatten-evidence.ts'
import type { Day } from '../../src/base/day.ts'
import type { Evidence } from '../../src/model/evidence.ts'
import type { Network } from '../../src/model/network.ts'
import { judge } from '../../src/score/judge.ts'
import type { Source } from '../../src/table/file/table-source.ts'
import {
  evidenceArbitrary,
  evidenceOf,
  networkArbitrary,
  networkOf,
  today,
} from '../score/evidence-sample.ts'

/** The names of what the samples name as provider, so that ties fall to the owner. */
const owners = ['Example', 'Alpha Ltd', 'Beta Inc', 'Google LLC']
const networks = fc
  .tuple(networkArbitrary, fc.constantFrom(...owners))
  .map(([network, organization]) => networkOf({ ...network, organization }))

interface Case {
  readonly evidence: readonly Evidence[]
  readonly lists: readonly (readonly number[])[]
  readonly ofAs: readonly (readonly number[])[]
  readonly networks: readonly Network[]
}

const picks = fc.array(fc.nat({ max: 7 }), { maxLength: 4 })
const cases: fc.Arbitrary<Case> = fc.record({
  evidence: fc.array(evidenceArbitrary, { minLength: 8, maxLength: 8 }),
  lists: fc.array(picks, { minLength: 1, maxLength: 6 }),
  ofAs: fc.array(picks, { minLength: 5, maxLength: 5 }),
  networks: fc.array(networks, { minLength: 5, maxLength: 5 }),
})

/** Every verdict of the book beside that of the same evidence, judged alone. */
function compareAll(of: Case): number {
  const book = newEvidenceBook()
  const ids = of.evidence.map((evidence, source) => book.id({ source, evidence, range: undefined }))
  const idsOf = (picked: readonly number[]): readonly number[] =>
    [...new Set(picked.map((at) => ids[at]!))].sort((a, b) => a - b)
  const lists = newListInterner()
  const statementsOfAs = (network: Network): readonly number[] =>
    idsOf(of.ofAs[of.networks.indexOf(network)] ?? [])
  const listIds = of.lists.map((picked) => lists.id(idsOf(picked)))
  const { networks } = of
  const networksSource = { kind: 'network', day: (today - 15) as Day } as Source
  const sources = [networksSource]
  const found = newVerdictBook({ asOf: today, sources, networks, book, lists, statementsOfAs })
  for (const list of [0, ...listIds, ...listIds]) {
    for (const [at, network] of [undefined, ...of.networks].entries()) {
      const said = [...(lists.lists[list - 1] ?? []), ...(network ? statementsOfAs(network) : [])]
      const evidence = said.map((id) => book.at(id).evidence)
      for (const family of at === 0 ? ([4, 6] as const) : ([6] as const)) {
        const areNetworksOld = family === 6
        const alone = judge({ evidence, network, areNetworksOld, asOf: today })
        const id = found.verdictOf(family, at, list)
        expect(found.verdicts[id]).toEqual(alone)
        expect(found.isAnycast(id)).toBe(alone.reasons.some(({ code }) => code === 'anycast'))
      }
    }
  }
  return found.verdicts.length
}

describe('the verdicts of a build', () => {
  it('are those of each pair of evidence and network, judged alone', () => {
    fc.assert(
      fc.property(cases, (one) => {
        expect(compareAll(one)).toBeGreaterThan(0)
      }),
    )
  })

  it('name the owner where several are named, in each network its own', () => {
    const hosting = (provider: string): Evidence =>
      evidenceOf({ kind: 'hosting', provider, feed: `of-${provider}` })
    const named = owners.map((organization) => networkOf({ type: 'hosting', organization }))
    const of = {
      evidence: [hosting('Alpha'), hosting('Beta'), hosting('Google')],
      lists: [[0], [0, 1], [0, 1, 2]],
      ofAs: [],
      networks: named,
    }
    expect(compareAll(of)).toBeGreaterThan(1)
  })
})
