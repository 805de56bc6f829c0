// Which independent voices call an AS a hoster. A voice is a hand-kept table, a feed or a feed's
// tag; voices that republish each other share a group and count as one (MODEL.md, rules 3 and 5).
// network-type.ts decides whether an AS is one; src/score decides what that costs.

import { hosterTableId } from '../../src/score/finding/hosting-finding.ts'
import type { AsFact } from './as-facts.ts'

/** The voice of data/tables/hosting.csv; the feeds go by their own ids. */
export const hostingTableVoice = hosterTableId

/** The voice of the name under which the registry knows the organization: what it calls itself. */
export const namesVoice = 'network-names'

/** The group of the lists that republish each other, and of what they may have been made from. */
export const badListGroup = 'bad-asn-list'

/**
 * Groups of the voices whose id is not their group. Measured on 2026-08-22: all 723 ASes of badlist
 * are in tn3w (724), 714 of them in x4b (892), with the same misspellings in the names.
 *
 * Names are one voice with these lists, which seem to have been gathered by name: others confirm
 * 48 % of their ASes whose name says so and 51 % of the rest, so the name adds nothing there. It
 * does beside the tag (46 % against 34 %) and beside PeeringDB (53 % against 24 %).
 */
const groups: Readonly<Record<string, string>> = {
  'hosting-asn-badlist': badListGroup,
  'hosting-asn-tn3w': badListGroup,
  'hosting-asn-x4b': badListGroup,
  [namesVoice]: badListGroup,
}

/** The independence group of a voice. */
export function hostingGroup(voice: string): string {
  return groups[voice] ?? voice
}

/**
 * The voices that call the AS a hoster, by the facts alone, ascending: feeds that list it, the tag
 * `vpsh` (sells virtual servers) of bgp.tools, the class `hosting` of PeeringDB.
 */
export function hostingVoices(fact: AsFact | undefined): readonly string[] {
  if (fact === undefined) return []
  const voices = [...fact.lists]
  if (fact.tags.has('vpsh')) voices.push('asn-bgptools-tags')
  if (fact.peering.has('hosting')) voices.push('asn-peeringdb-classes')
  return voices.sort()
}

/** How many of the voices are independent of each other. */
export function groupCount(voices: readonly string[]): number {
  return new Set(voices.map(hostingGroup)).size
}
