// Statements that a whole AS is a hoster's: each voice becomes evidence with match `as`.

import type { Day } from '../../src/base/day.ts'
import { memoise } from '../../src/base/memoise.ts'
import type { Network } from '../../src/model/network.ts'
import { hostersFeed, namesFeed, newestTableDay } from './builtin-feeds.ts'
import { type EvidenceBook, seenOnDay } from './evidence-book.ts'
import { hostingLists, hostingTableVoice, namesVoice } from '../networks/network-type.ts'
import type { AsFacts } from '../networks/as-facts.ts'
import { canonicalHoster } from '../networks/organization-name.ts'
import type { NetworkTables } from '../networks/network-tables.ts'
import { voiceOf } from './normalise.ts'
import type { TakenSnapshot } from './read-snapshots.ts'

type Speaker = Pick<TakenSnapshot, 'feed' | 'day'>

/** Ascending statement numbers for a network's AS; none for an access network. */
export function newAsEvidence(
  of: {
    readonly tables: NetworkTables
    readonly facts: AsFacts
    readonly sourceIds: readonly string[]
    readonly files: readonly Speaker[]
    readonly asOf: Day
  },
  book: EvidenceBook,
): (network: Network) => readonly number[] {
  const { tables, facts, sourceIds, files, asOf } = of
  const speakers = new Map(files.map((file): [string, Speaker] => [file.feed.id, file]))
  speakers.set(hostingTableVoice, { feed: hostersFeed, day: newestTableDay(tables) })
  speakers.set(namesVoice, { feed: namesFeed, day: asOf })
  /** Memoised: thousands of ASes share a speaker and provider. */
  const evidenceOf = memoise(({ feed, day }: Speaker) =>
    memoise((provider: string) =>
      seenOnDay(
        { voice: voiceOf(feed), kind: 'hosting', match: 'as', provider },
        Math.min(day, asOf) as Day,
      ),
    ),
  )
  return ({ asn, organization, access, corporate }) => {
    // Corporate egress in a cloud is offices' traffic, whatever else the AS holds.
    if (access || corporate) return []
    const ids = hostingLists({ asn, organization, facts, tables }).map((voice) => {
      const speaker = speakers.get(voice)
      const source = sourceIds.indexOf(voice)
      if (speaker === undefined || source < 0) return 0
      const named = voice === hostingTableVoice ? tables.asRow(asn)?.row.name : undefined
      const evidence = evidenceOf(speaker)(canonicalHoster(named ?? ''))
      return book.id({ source, evidence, range: undefined })
    })
    return ids.filter((id) => id > 0).sort((a, b) => a - b)
  }
}
