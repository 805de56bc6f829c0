// What contradicts an entry: something better known that makes its claim implausible there. One
// rule a kind. Not proof of an error: people do run exits at home; but a feed that has much of it
// is read with more doubt.
//
// Some of it the model settles by itself: the relay wins over a VPN list, a third party's hosting
// does not count on people's own lines, residential is only where lines are people's own. There the
// feed's weight is never used, so that says nothing of the entries for which it is.

import type { Evidence } from '../../../src/model/evidence.ts'
import type { Kind } from '../../../src/model/kind.ts'
import type { Network } from '../../../src/model/network.ts'
import type { World } from '../world/cells.ts'

/** `open`: the entry counts all the same, with its feed's weight. */
export type ContradictionState = 'no' | 'settled' | 'open'

export type Contradiction = (
  evidence: Evidence,
  at: {
    readonly network: Network | undefined
    /** All that is said of the same addresses. */
    readonly beside: readonly Evidence[]
  },
) => ContradictionState

export function newContradiction(world: World): Contradiction {
  const homes = botHomes(world)
  return (evidence, { network, beside }) => {
    const open = (holds: boolean): ContradictionState => (holds ? 'open' : 'no')
    const settled = (holds: boolean): ContradictionState => (holds ? 'settled' : 'no')
    const isAccess = network?.access === true
    const isRelay = beside.some(({ kind }) => kind === 'relay')
    const isCovered = isRelay || network?.corporate === true
    const home = homes.get(evidence.provider)
    const isWeak = evidence.voice.assurance === 'weak'
    const rules: Readonly<Record<Kind, () => ContradictionState>> = {
      tor: () => open(isCovered),
      vpn: () => (isCovered ? 'settled' : open(isAccess)),
      proxy: () => settled(isCovered || beside.some(isOwnCrawler)),
      residential_proxy: () => settled(network?.type === 'hosting' || network?.type === 'cdn'),
      hosting: () => (isWeak ? settled(isAccess) : open(isAccess)),
      bot: () => open(isAccess || (home !== undefined && !home.has(network?.asn ?? 0))),
      blocklist: () => settled(isRelay || beside.some(isOwnCrawler)),
      relay: () => open(isAccess),
    }
    return rules[evidence.kind]()
  }
}

function isOwnCrawler({ kind, category, voice }: Evidence): boolean {
  return kind === 'bot' && voice.assurance === 'direct' && category !== undefined
}

/** ASes in which a bot's own operator lists a range, by the name of the bot. */
function botHomes(world: World): ReadonlyMap<string, ReadonlySet<number>> {
  const homes = new Map<string, Set<number>>()
  for (const { network, list } of world.cells) {
    for (const id of world.lists.lists[list - 1] ?? []) {
      const { evidence } = world.book.at(id)
      if (evidence.kind !== 'bot' || evidence.voice.assurance !== 'direct') continue
      const home = homes.get(evidence.provider) ?? new Set()
      homes.set(evidence.provider, home.add(world.networks[network - 1]?.asn ?? 0))
    }
  }
  return homes
}
