// One feed's word on one range, to the words that the table keeps for explanations, and back:
//
//   word 0   bits 0-15 source (index into the header's sources), 16-19 kind, 20-21 match,
//            22-23 bot category + 1 (0: none)
//   word 1   provider (string)
//   word 2   bits 0-15 lists, 16-23 days listed, 24-31 days observed
//   word 3   bits 0-15 first seen, 16-31 last seen (days; good until 2149)
//   4-7      first address of the range   8-11  last address; both 0 for evidence of the AS
//
// The range's family is that of the address that led to it.

import type { Day } from '../../base/day.ts'
import {
  type BotCategory,
  type Kind,
  type Match,
  botCategories,
  kinds,
  matches,
} from '../../model/kind.ts'
import { evidenceListMax, evidenceWords } from '../../schema/table-layout.ts'
import type { SectionViews } from '../../schema/table-sections.ts'
import { type ListPlace, damaged, listPlace } from './bounded-list.ts'
import type { Strings } from './string-section.ts'

export interface TableEvidence {
  /** Index into the table's sources. */
  readonly source: number
  readonly kind: Kind
  readonly match: Match
  readonly provider: string
  readonly category: BotCategory | undefined
  readonly lists: number
  readonly firstSeen: Day
  readonly lastSeen: Day
  readonly daysListed: number
  readonly daysObserved: number
  /** Words of the matched range's ends, as parsed; all 0 where `match` is `as`. */
  readonly first: Uint32Array
  readonly last: Uint32Array
}

/** What is said, without of what range and by whom. */
type Said = Omit<TableEvidence, 'source' | 'first' | 'last'>

/** Writes to `out[at …]`. `lists` and days are cut to what their bits hold. */
export function packEvidence(
  said: Pick<TableEvidence, 'source' | 'first' | 'last'> & { readonly evidence: Said },
  write: { readonly out: Uint32Array; readonly at: number; readonly providerId: number },
): void {
  const { out, at } = write
  const { evidence } = said
  out[at] =
    said.source |
    (kinds.indexOf(evidence.kind) << 16) |
    (matches.indexOf(evidence.match) << 20) |
    (evidence.category === undefined ? 0 : (botCategories.indexOf(evidence.category) + 1) << 22)
  out[at + 1] = write.providerId
  out[at + 2] =
    (Math.min(evidence.lists, 0xffff) |
      (Math.min(evidence.daysListed, 255) << 16) |
      (Math.min(evidence.daysObserved, 255) << 24)) >>>
    0
  out[at + 3] = (evidence.firstSeen | (evidence.lastSeen << 16)) >>> 0
  out.set(said.first, at + 4)
  out.set(said.last, at + 8)
}

/** Evidence number `id` (from 0). */
export function readEvidence(words: Uint32Array, id: number, strings: Strings): TableEvidence {
  const at = id * evidenceWords
  const head = words[at] ?? 0
  const counts = words[at + 2] ?? 0
  const days = words[at + 3] ?? 0
  return {
    source: head & 0xffff,
    kind: kinds[(head >>> 16) & 15] ?? 'hosting',
    match: matches[(head >>> 20) & 3] ?? 'as',
    provider: strings.text(words[at + 1] ?? 0),
    category: botCategories[((head >>> 22) & 3) - 1],
    lists: counts & 0xffff,
    daysListed: (counts >>> 16) & 255,
    daysObserved: counts >>> 24,
    firstSeen: (days & 0xffff) as Day,
    lastSeen: (days >>> 16) as Day,
    first: words.slice(at + 4, at + 8),
    last: words.slice(at + 8, at + 12),
  }
}

/** Where the ids of list `list` lie. Throws `table_corrupt` where they cannot. */
export function evidenceListPlace(
  {
    evidence_lists: lists,
    evidence_ids: ids,
  }: Pick<SectionViews, 'evidence_lists' | 'evidence_ids'>,
  list: number,
): ListPlace {
  return listPlace(lists, list, {
    section: 'evidence_lists',
    length: ids.length,
    max: evidenceListMax,
  })
}

/** The evidence of list `list`, in the order of the build; list 0 is empty. */
export function readEvidenceList(
  views: Pick<SectionViews, 'evidence_lists' | 'evidence_ids' | 'evidence'>,
  list: number,
  strings: Strings,
): TableEvidence[] {
  const found: TableEvidence[] = []
  const { from, to } = evidenceListPlace(views, list)
  for (let at = from; at < to; at++) {
    const id = views.evidence_ids[at] ?? 0
    if (id >= views.evidence.length / evidenceWords) {
      throw damaged(views.evidence_ids, 'evidence_ids', at, `there is no evidence ${id}`)
    }
    found.push(readEvidence(views.evidence, id, strings))
  }
  return found
}
