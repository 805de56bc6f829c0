// Which independent voices call an AS a hoster. A voice is a hand-kept table, a feed or a feed's
// tag; voices that republish each other share a group and count as one (scoring.md, rules 3 and 5).
// Not the judgement: whether an AS is one is decided in classify.ts, what it costs in src/score.

import { hosterTableId } from '../../src/score/hosting.ts'
import type { AsFact } from './facts.ts'

/** The voice of data/tables/hosting.csv; the feeds go by their own ids. */
export const hostingTableVoice = hosterTableId

/**
 * Groups of the voices whose id is not their group. Measured on 2026-08-22: all 723 ASes of badlist
 * are in tn3w (724), 714 of them in x4b (892), with the same misspellings in the names.
 */
const groups: Readonly<Record<string, string>> = {
  'hosting-asn-badlist': 'bad-asn-list',
  'hosting-asn-tn3w': 'bad-asn-list',
  'hosting-asn-x4b': 'bad-asn-list',
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
