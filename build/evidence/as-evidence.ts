// Statements about an AS as a whole: that it is a hoster's. Which voices say so is the networks'
// to tell; here each becomes evidence with match `as`, numbered in the book like any other.

import type { Day } from '../../src/base/day.ts'
import { memoise } from '../../src/base/memoise.ts'
import type { Evidence } from '../../src/model/evidence.ts'
import type { Network } from '../../src/model/network.ts'
import { hostersFeed, namesFeed, newestTableDay } from './builtin-feeds.ts'
import type { Feed } from '../catalogue/feed.ts'
import type { EvidenceBook } from './evidence-book.ts'
import { hostingLists, hostingTableVoice, namesVoice } from '../networks/network-type.ts'
import type { AsFacts } from '../networks/as-facts.ts'
import { canonicalHoster } from '../networks/organization-name.ts'
import type { NetworkTables } from '../networks/network-tables.ts'
import { voiceOf } from './normalise.ts'
import type { TakenSnapshot } from './read-snapshots.ts'

export interface AsEvidenceContext {
  readonly tables: NetworkTables
  readonly facts: AsFacts
  /** Ids of the table's sources, by index. */
  readonly sourceIds: readonly string[]
  readonly files: readonly TakenSnapshot[]
  readonly asOf: Day
}

interface Speaker {
  readonly feed: Feed
  readonly day: Day
}

/** Numbers of the statements about a network's AS, ascending; none for an access network. */
export function newAsEvidence(
  ground: AsEvidenceContext,
  book: EvidenceBook,
): (network: Network) => readonly number[] {
  const speakers = new Map<string, Speaker>(
    ground.files.map(({ feed, day }) => [feed.id, { feed, day }]),
  )
  speakers.set(hostingTableVoice, { feed: hostersFeed, day: newestTableDay(ground.tables) })
  speakers.set(namesVoice, { feed: namesFeed, day: ground.asOf })
  /** By speaker and provider: thousands of ASes share one, and the book knows what it has seen. */
  const evidenceOf = memoise((speaker: Speaker) =>
    memoise((provider: string) => listEvidence(speaker, provider, ground.asOf)),
  )
  return ({ asn, organization, access, corporate }) => {
    // Corporate egress in a cloud is offices' traffic, whatever the rest of the AS is.
    if (access || corporate) return []
    const { facts, tables, sourceIds } = ground
    const ids = hostingLists({ asn, organization, facts, tables }).map((voice) => {
      const speaker = speakers.get(voice)
      const source = sourceIds.indexOf(voice)
      if (speaker === undefined || source < 0) return 0
      const named = voice === hostingTableVoice ? tables.asRow(asn)?.row.name : undefined
      return book.id({
        source,
        evidence: evidenceOf(speaker)(canonicalHoster(named ?? '')),
        range: undefined,
      })
    })
    return ids.filter((id) => id > 0).sort((a, b) => a - b)
  }
}

/** AS lists are facts without days of their own: seen on the day of the list. */
function listEvidence(speaker: Speaker, provider: string, asOf: Day): Evidence {
  const seen = Math.min(speaker.day, asOf) as Day
  return {
    voice: voiceOf(speaker.feed),
    kind: 'hosting',
    match: 'as',
    provider,
    category: undefined,
    lists: 1,
    firstSeen: seen,
    lastSeen: seen,
    daysListed: 1,
    daysObserved: 1,
  }
}
