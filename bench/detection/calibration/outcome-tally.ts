// What callers reported of the addresses that each feed lists: how many turned out abusive, and how
// many of all that were reported did, which is what chance alone would give. An address counts
// once, by its last outcome, for every feed that lists it or its AS today.
//
// Limits: a feed that has learned of an address since it was reported looks better than it was; and
// outcomes must not be what a score has decided, or the feeds confirm themselves.

import type { Outcome } from '../../../src/feedback/outcome.ts'
import { wilsonShare } from '../../../src/feedback/wilson-share.ts'
import { newAddressWords } from '../../../src/ip/address.ts'
import { parseAddress } from '../../../src/ip/parse-address.ts'
import type { Kind } from '../../../src/model/kind.ts'
import { valueAt } from '../../../build/layer/layer.ts'
import { hostingVoices } from '../../../build/networks/network-type.ts'
import type { World } from '../world/cells.ts'

export interface OutcomeTally {
  readonly addresses: number
  readonly abusive: number
  /** Share of all reported addresses that turned out abusive. */
  readonly chance: number
}

/** Of fewer addresses nothing is learned: no caller's few reports move a weight. */
export const outcomesJudged = 30

/** What such a feed claims is no reason for suspicion, so its addresses may well be legitimate. */
const harmless: ReadonlySet<Kind> = new Set<Kind>(['bot', 'relay'])

/** By feed id; feeds of which no address was reported, and harmless ones, are left out. */
export function tallyOutcomes(
  world: World,
  outcomes: Iterable<Pick<Outcome, 'address' | 'outcome'>>,
): ReadonlyMap<string, OutcomeTally> {
  const words = newAddressWords()
  const sums = new Map<string, { addresses: number; abusive: number }>()
  const all = { addresses: 0, abusive: 0 }
  for (const { address, outcome } of outcomes) {
    const family = parseAddress(address, words)
    if (family === 0) continue
    const abusive = outcome === 'abusive' ? 1 : 0
    all.addresses += 1
    all.abusive += abusive
    for (const id of feedsAt(world, family, words)) {
      const sum = sums.get(id) ?? { addresses: 0, abusive: 0 }
      sums.set(id, sum)
      sum.addresses += 1
      sum.abusive += abusive
    }
  }
  const chance = all.addresses === 0 ? 0 : all.abusive / all.addresses
  return new Map([...sums].map(([id, sum]) => [id, { ...sum, chance }]))
}

function feedsAt(world: World, family: 4 | 6, words: Uint32Array): ReadonlySet<string> {
  const list = valueAt(world.evidenceLayers[family], words)
  const said = (world.lists.lists[list - 1] ?? []).map((id) => world.book.at(id).evidence)
  const network = world.networks[valueAt(world.networkLayers[family], words) - 1]
  return new Set([
    ...said.filter(({ kind }) => !harmless.has(kind)).map(({ voice }) => voice.id),
    ...(network === undefined ? [] : hostingVoices(world.facts.get(network.asn))),
  ])
}

/** How far outcomes speak for a feed, 0 to 1, and how far against it; at most one is above 0. */
export function outcomeShares(tally: OutcomeTally | undefined): {
  readonly confirmed: number
  readonly contradicted: number
} {
  const { addresses = 0, abusive = 0, chance = 0 } = tally ?? {}
  if (addresses < outcomesJudged) return { confirmed: 0, contradicted: 0 }
  const { low, high } = wilsonShare(abusive, addresses)
  // By the end of the interval that is nearer to chance: what could be chance says nothing.
  return {
    confirmed: chance >= 1 ? 0 : Math.max(0, (low - chance) / (1 - chance)),
    contradicted: chance <= 0 ? 0 : Math.max(0, (chance - high) / chance),
  }
}
