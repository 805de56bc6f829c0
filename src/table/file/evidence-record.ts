// A feed's statement about a range as the table's words for explanations, and back:
//
//   word 0   bits 0-15 source (index into the header's sources), 16-19 kind, 20-21 match,
//            22-23 bot category + 1 (0: none), 24 its range is IPv6
//   word 1   provider (string)
//   word 2   bits 0-15 lists, 16-23 days listed, 24-31 days observed
//   word 3   bits 0-15 first seen, 16-31 last seen (days; good until 2149)
//   4, 5     first and last address of an IPv4 range; of an IPv6 one its place among
//            `evidence_ranges` (first and last, four words each) and 0; of the AS 0 and 0

import type { Day } from '../../base/day.ts'
import { type Range, bigintToWords, wordsToBigint } from '../../ip/range.ts'
import type { Evidence } from '../../model/evidence.ts'
import { botCategories, kinds, matches } from '../../model/kind.ts'
import { evidenceListMax, evidenceRangeWords, evidenceWords } from '../../schema/table-layout.ts'
import type { SectionViews } from '../../schema/table-sections.ts'
import { type ListPlace, damaged, listPlace } from './table-corrupt.ts'
import type { Strings } from './string-section.ts'

export interface TableEvidence extends Omit<Evidence, 'voice'> {
  /** Index into the table's sources. */
  readonly source: number
  readonly range: Range | undefined
}

/** Writes to `out[at …]`, appends IPv6 ranges; clamps `lists` and days to their bits. */
export function packEvidence(
  of: Pick<TableEvidence, 'source' | 'range'> & {
    readonly evidence: Omit<TableEvidence, 'source' | 'range'>
  },
  to: { readonly out: Uint32Array; readonly ranges: number[]; at: number; providerId: number },
): void {
  const { source, range, evidence } = of
  const { out, at, providerId, ranges } = to
  out[at] =
    source |
    (kinds.indexOf(evidence.kind) << 16) |
    (matches.indexOf(evidence.match) << 20) |
    (evidence.category === undefined ? 0 : (botCategories.indexOf(evidence.category) + 1) << 22) |
    (range?.family === 6 ? 1 << 24 : 0)
  out[at + 1] = providerId
  out[at + 2] =
    (Math.min(evidence.lists, 0xffff) |
      (Math.min(evidence.daysListed, 255) << 16) |
      (Math.min(evidence.daysObserved, 255) << 24)) >>>
    0
  out[at + 3] = (evidence.firstSeen | (evidence.lastSeen << 16)) >>> 0
  if (range === undefined) return
  if (range.family === 4) out.set([Number(range.first), Number(range.last)], at + 4)
  else out[at + 4] = addRange(range, ranges)
}

function addRange({ first, last }: Range, ranges: number[]): number {
  const place = ranges.length / evidenceRangeWords
  const words = new Uint32Array(4)
  for (const end of [first, last]) {
    bigintToWords(6, end, words)
    ranges.push(...words)
  }
  return place
}

type EvidenceViews = Pick<SectionViews, 'evidence' | 'evidence_ranges'>

function readEvidence(
  { evidence: words, evidence_ranges: ranges }: EvidenceViews,
  id: number,
  strings: Strings,
): TableEvidence {
  const at = id * evidenceWords
  const head = words[at] ?? 0
  const match = matches[(head >>> 20) & 3] ?? 'as'
  const counts = words[at + 2] ?? 0
  const days = words[at + 3] ?? 0
  return {
    source: head & 0xffff,
    kind: kinds[(head >>> 16) & 15] ?? 'hosting',
    match,
    provider: strings.text(words[at + 1] ?? 0),
    category: botCategories[((head >>> 22) & 3) - 1],
    lists: counts & 0xffff,
    daysListed: (counts >>> 16) & 255,
    daysObserved: counts >>> 24,
    firstSeen: (days & 0xffff) as Day,
    lastSeen: (days >>> 16) as Day,
    range: match === 'as' ? undefined : readRange(words.subarray(at, at + evidenceWords), ranges),
  }
}

function readRange(row: Uint32Array, ranges: Uint32Array): Range {
  const [head = 0, , , , first = 0, last = 0] = row
  if ((head & (1 << 24)) === 0) return { family: 4, first: BigInt(first), last: BigInt(last) }
  const from = first * evidenceRangeWords
  if (from + evidenceRangeWords > ranges.length) {
    throw damaged(row, 'evidence', 4, `there is no range ${first}`)
  }
  const [begin, end] = [ranges.slice(from, from + 4), ranges.slice(from + 4, from + 8)]
  return { family: 6, first: wordsToBigint(6, begin), last: wordsToBigint(6, end) }
}

/** Throws `table_corrupt` if the ids cannot be there. */
export function evidenceListPlace(
  views: Pick<SectionViews, 'evidence_lists' | 'evidence_ids'>,
  list: number,
): ListPlace {
  const { length } = views.evidence_ids
  return listPlace(views.evidence_lists, list, {
    section: 'evidence_lists',
    length,
    max: evidenceListMax,
  })
}

/** In the build's order; list 0 is empty. */
export function readEvidenceList(
  views: EvidenceViews & Pick<SectionViews, 'evidence_lists' | 'evidence_ids'>,
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
    found.push(readEvidence(views, id, strings))
  }
  return found
}
