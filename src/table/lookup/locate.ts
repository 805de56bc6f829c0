// Hot path: no allocation, no throw, no closure, no regular expression.
//
// From a parsed address to what the table holds for it, by the contract's address rules (3.8:
// bogons, 3.9: addresses). The result goes to a caller-owned `Located`.

import { EMBEDDED, embeddedIpv4, embeddedKind } from '../../ip/embedded-ipv4.ts'
import { isBogon } from '../../ip/special-purpose.ts'
import { recordWords, verdictWords } from '../../schema/table-layout.ts'
import type { SectionViews } from '../../schema/table-sections.ts'
import { searchIpv4, searchIpv6 } from './search.ts'

/** Ids as in the table; 0 is none, except for verdicts. */
export type Located = ReturnType<typeof newLocated>

export function newLocated() {
  return {
    /** The family that was judged, the answer's `version`: 4 for IPv4-mapped text. */
    version: 4 as 4 | 6,
    bogon: false,
    /** The record that answers; -1 for a bogon, and if two do (6to4). */
    record: -1,
    network: 0,
    location: 0,
    verdict: 0,
    evidence: 0,
    evidenceFamily: 4 as 4 | 6,
    /** The IPv4 address judged, alone or beside the IPv6 one, or -1. */
    ipv4: -1,
  }
}

const mapped = new Uint32Array(4)

const unknownRecord = -1

/**
 * Looks up the address in `words`. `known`: the result of its search (search.ts), if there is one.
 */
export function locate(
  views: SectionViews,
  family: 4 | 6,
  words: Uint32Array,
  out: Located,
  known: number = unknownRecord,
): void {
  if (family === 4) {
    locateIpv4(views, words, out, known)
    return
  }
  const kind = embeddedKind(words)
  if (kind === EMBEDDED.none) {
    out.version = 6
    out.ipv4 = -1
    out.bogon = isBogon(6, words)
    out.record = -1
    if (!out.bogon) copyRecord(views, known < 0 ? searchIpv6(views, words) : known, 6, out)
    return
  }
  mapped[0] = embeddedIpv4(kind, words)
  locateIpv4(views, mapped, out, unknownRecord)
  if (kind === EMBEDDED.mapped) return
  out.version = 6
  if (kind === EMBEDDED.sixToFour && !out.bogon)
    mergeIpv6Record(views, searchIpv6(views, words), out)
}

function locateIpv4(views: SectionViews, words: Uint32Array, out: Located, known: number): void {
  out.version = 4
  out.ipv4 = words[0]!
  out.bogon = isBogon(4, words)
  out.record = -1
  if (!out.bogon) copyRecord(views, known < 0 ? searchIpv4(views, words[0]!) : known, 4, out)
}

function copyRecord(views: SectionViews, record: number, family: 4 | 6, out: Located): void {
  const records = views.records
  const at = record * recordWords
  out.record = record
  out.network = records[at]!
  out.location = records[at + 1]!
  out.verdict = records[at + 2]!
  out.evidence = records[at + 3]!
  out.evidenceFamily = family
}

/**
 * 6to4: merges the IPv6 address's own record into that of the embedded IPv4 address in `out`. The
 * verdict with the higher score counts; one without network and evidence does not. The IPv6
 * address's own network and place win; the build removes those of 2002::/16 itself
 * (build/layer/overlay.ts).
 */
function mergeIpv6Record(views: SectionViews, record: number, out: Located): void {
  const records = views.records
  const at = record * recordWords
  const network = records[at]!
  const verdict = records[at + 2]!
  out.record = -1
  const speaks = network !== 0 || records[at + 3]! !== 0
  if (speaks && scoreOf(views, verdict) > scoreOf(views, out.verdict)) {
    out.verdict = verdict
    out.evidence = records[at + 3]!
    out.evidenceFamily = 6
  }
  if (network !== 0) out.network = network
  if (records[at + 1]! !== 0) out.location = records[at + 1]!
}

function scoreOf(views: SectionViews, verdict: number): number {
  return (views.verdicts[verdict * verdictWords]! >>> 4) & 127
}
