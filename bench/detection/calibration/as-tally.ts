// The tally of feeds that speak of ASes, not of addresses: an entry is an AS that the feed calls a
// hoster. Confirmed: a voice of another group, the hand-kept table included, says so too.
// Contradicted: it is an access network by a table, a tag or a class, or a campus; the model
// settles that, because such networks never become hosting by a list.

import {
  groupCount,
  hostingGroup,
  hostingTableVoice,
  hostingVoices,
} from '../../../build/networks/network-type.ts'
import { type FeedTally, type FeedTallySums, noFeedTally } from './feed-tally.ts'
import type { World } from '../world/cells.ts'

/** By feed id; only ASes that announce something. */
export function tallyAsFeeds(
  world: Pick<World, 'networks' | 'facts' | 'tables'>,
): ReadonlyMap<string, FeedTally> {
  const sums = new Map<string, FeedTallySums>()
  const seen = new Set<number>()
  const all: (readonly string[])[] = []
  for (const { asn, access, type } of world.networks) {
    // Within an ASN the AS itself comes before its special prefixes.
    if (seen.has(asn)) continue
    seen.add(asn)
    const lists = hostingVoices(world.facts.get(asn))
    const isTable = world.tables.asRow(asn)?.table === 'hosting'
    const voices = isTable ? [hostingTableVoice, ...lists] : lists
    all.push(voices)
    for (const voice of lists) {
      const sum = sums.get(voice) ?? { ...noFeedTally }
      sums.set(voice, sum)
      sum.entries++
      if (voices.length === 1) sum.unique++
      const others = voices.filter((other) => hostingGroup(other) !== hostingGroup(voice))
      if (groupCount(others) > 0) sum.confirmed++
      if (access || type === 'education') sum.settled++
    }
  }
  for (const [voice, sum] of sums) {
    const group = hostingGroup(voice)
    const byOthers = all.filter((voices) => voices.some((other) => hostingGroup(other) !== group))
    sum.chance = byOthers.length / all.length
  }
  return sums
}
