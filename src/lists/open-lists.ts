// Hot path: `covers`, `pieceOf` and what they call. Forbidden there: allocation, throw, closure,
// BigInt, a clock.
//
// A matcher of a compiled file (list-file.ts): the filter, then the piece by the index and a binary
// search, as in table/lookup/search.ts; `match` then walks the path of the piece's node.

import { mapFile } from '../base/system/memory-map.ts'
import type { ListSections, NamedList } from './compile/list-file.ts'
import { decodeListFile, decodeNames } from './compile/list-file.ts'
import { mayCoverIpv4, mayCoverIpv6 } from './list-filter.ts'
import type { ListMatch, ListMatcher } from './list-matcher.ts'

/** The bytes must outlive the matcher. Throws `lists_corrupt`. */
export function openLists(bytes: Uint8Array, path: string, version: number): ListMatcher {
  const sections = decodeListFile(bytes, path)
  const lists = decodeNames(sections.names)
  const hasSystems = sections.asns.length > 0
  return {
    version,
    hasSystems,
    starts: (family) => (family === 4 ? sections.starts4 : sections.starts6),
    nextExpiryMs: (nowMs) =>
      sections.expiries.reduce(
        (next, s) => (s * 1000 > nowMs ? Math.min(next, s * 1000) : next),
        Infinity,
      ),
    covers: (family, words, ipv4, asn) =>
      (family === 6 && mayCoverIpv6(sections, words) && findIpv6(sections, words) !== 0) ||
      (ipv4 >= 0 && mayCoverIpv4(sections.filter4, ipv4) && findIpv4(sections, ipv4) !== 0) ||
      (hasSystems && asn !== 0 && findSystem(sections, asn) !== 0),
    pieceOf: (family, words) =>
      family === 4 ? pieceOfIpv4(sections, words[0]!) : pieceOfIpv6(sections, words),
    match: ({ family, words, ipv4, asn, nowMs }) => {
      const walk = newWalk(sections, lists, nowMs)
      if (family === 6) walk.add(findIpv6(sections, words))
      if (ipv4 >= 0) walk.add(findIpv4(sections, ipv4))
      if (hasSystems && asn !== 0) walk.add(findSystem(sections, asn))
      return walk.result()
    },
  }
}

/** The address is not below the index's base (prefix-tree.ts). */
function bucketAt(index: Uint32Array, word: number): number {
  const at = ((word - index[0]!) >>> index[1]!) + 2
  // The last bucket holds everything after it; one more entry ends it.
  const last = index.length - 2
  return at < last ? at : last
}

function findIpv4(sections: ListSections, value: number): number {
  return sections.nodes4[pieceOfIpv4(sections, value)]!
}

function pieceOfIpv4({ starts4, index4 }: ListSections, value: number): number {
  if (value < index4[0]!) return 0
  const bucket = bucketAt(index4, value)
  let low = index4[bucket]! | 0
  let more = ((index4[bucket + 1]! | 0) - low) | 0
  while (more > 0) {
    const at = (low + ((more + 1) >>> 1)) | 0
    if (starts4[at]! <= value) low = at
    more >>>= 1
  }
  return low
}

function findIpv6(sections: ListSections, words: Uint32Array): number {
  return sections.nodes6[pieceOfIpv6(sections, words)]!
}

function pieceOfIpv6({ starts6, index6 }: ListSections, words: Uint32Array): number {
  const a = words[0]!
  if (a < index6[0]!) return 0
  const bucket = bucketAt(index6, a)
  let low = index6[bucket]! | 0
  let more = ((index6[bucket + 1]! | 0) - low) | 0
  while (more > 0) {
    const at = (low + ((more + 1) >>> 1)) | 0
    const start = starts6[at * 4]!
    if (start < a || (start === a && isTailAtOrBelow(starts6, at, words))) low = at
    more >>>= 1
  }
  return low
}

/** The start has the address's first word. */
function isTailAtOrBelow(starts: Uint32Array, piece: number, words: Uint32Array): boolean {
  for (let i = 1; i < 4; i++) {
    const start = starts[piece * 4 + i]!
    if (start !== words[i]) return start < words[i]!
  }
  return true
}

function findSystem({ asns, nodesAs }: ListSections, asn: number): number {
  let low = 0
  let high = asns.length - 1
  while (low <= high) {
    const at = (low + high) >>> 1
    const found = asns[at]!
    if (found === asn) return nodesAs[at]!
    if (found < asn) low = at + 1
    else high = at - 1
  }
  return 0
}

function newWalk(
  { parents, owners, expiries, ranks }: ListSections,
  lists: readonly NamedList[],
  nowMs: number,
) {
  const matched = new Set<number>()
  let effect: ListMatch['effect'] = 'none'
  let best = Infinity
  return {
    add: (from: number): void => {
      for (let node = from; node !== 0; node = parents[node]!) {
        const expires = expiries[node]!
        if (expires !== 0 && expires * 1000 <= nowMs) continue
        const owner = owners[node]!
        matched.add(owner)
        const own = lists[owner]?.effect ?? 'none'
        const rank = ranks[node]!
        if (own === 'none' || rank > best || (rank === best && own === 'block')) continue
        best = rank
        effect = own
      }
    },
    result: (): ListMatch | undefined => {
      if (matched.size === 0) return undefined
      const names = [...matched].sort((a, b) => a - b).map((owner) => lists[owner]?.name ?? '')
      return { names, effect }
    },
  }
}

export type MappedLists = ReturnType<typeof mapLists>

/**
 * All processes share its pages; using the matcher after `unmap` ends the process. Throws
 * `file_unreadable` and `lists_corrupt`.
 */
export function mapLists(path: string, version: number) {
  const map = mapFile(path)
  try {
    return { matcher: openLists(map.bytes, path, version), unmap: () => map.unmap() }
  } catch (error) {
    map.unmap()
    throw error
  }
}
