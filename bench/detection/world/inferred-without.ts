// Where VPN servers would still be inferred (build/evidence/neighbourhoods.ts) if some statements
// were never made. What is left out must not speak through what its own servers say of their
// neighbours: an operator's servers would find each other.

import type { Family } from '../../../src/ip/address.ts'
import type { Range } from '../../../src/ip/range.ts'
import type { Evidence } from '../../../src/model/evidence.ts'
import { inferredVpnId } from '../../../src/score/weight/weigh-evidence.ts'
import type { Observation } from '../../../build/layer/flatten-evidence.ts'
import { addNeighbourhoods } from '../../../build/evidence/neighbourhoods.ts'
import type { World } from './cells.ts'

/** Operators' own words alone make inferences; by world, for they are a few of its statements. */
const ownWords = new WeakMap<World, Readonly<Record<Family, readonly Observation[]>>>()

/** Whether a statement of the inference would be made without what is left out. */
export function inferredWithout(
  world: World,
  isLeftOut: (evidence: Evidence) => boolean,
): (range: Range) => boolean {
  const own = ownWords.get(world) ?? { 4: ownWordsOf(world, 4), 6: ownWordsOf(world, 6) }
  ownWords.set(world, own)
  const left = (family: Family): Observation[] =>
    own[family].filter(({ evidence: id }) => !isLeftOut(world.book.at(id).evidence))
  const sites = new Set<string>()
  const book = {
    ...world.book,
    id({ evidence, range }: Parameters<World['book']['id']>[0]): number {
      if (evidence.voice.id === inferredVpnId && range !== undefined) sites.add(siteOf(range))
      return 0
    },
  }
  const { asOf, sources, networks, networkLayers } = world
  addNeighbourhoods({
    asOf,
    book,
    observations: { 4: left(4), 6: left(6) },
    sourceIds: sources,
    networks: { networks, layers: networkLayers },
  })
  return (range) => sites.has(siteOf(range))
}

function ownWordsOf({ observations, book }: World, family: Family): readonly Observation[] {
  return observations[family].filter(({ evidence: id }) => {
    const { kind, match, voice } = book.at(id).evidence
    return kind === 'vpn' && match !== 'near' && voice.assurance === 'direct'
  })
}

/** The /24, or /48, that holds it: no inference is wider. */
function siteOf({ family, first }: Range): string {
  return family === 4 ? `4 ${first >> 8n}` : `6 ${first >> 80n}`
}
