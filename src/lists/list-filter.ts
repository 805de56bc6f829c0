// Hot path: `mayCoverIpv4` and `mayCoverIpv6`. Forbidden there: allocation, throw, closure.
//
// A small filter before the look-up in compiled lists (open-lists.ts): nearly all addresses are on
// none, and two megabytes of bits fit in a processor's cache. A bit says that some address of a
// prefix is covered; the look-up tells prefixes that share a bit apart.
//
//   filter4   by /24
//   filter6   by /64, of what covers a few of them at most
//   wide6     by /32, of what covers more
//
// Each is words: the shift from a hash to a bit's number, then the bits. Invariant: no covered
// address is without its bit.

export type FilterSections = Readonly<Record<'filter4' | 'filter6' | 'wide6', Uint32Array>>

export function mayCoverIpv4(filter4: Uint32Array, value: number): boolean {
  return hasBit(filter4, hashOf(value >>> 8, 0))
}

export function mayCoverIpv6(
  { filter6, wide6 }: Pick<FilterSections, 'filter6' | 'wide6'>,
  words: Uint32Array,
): boolean {
  const a = words[0]!
  return hasBit(filter6, hashOf(a, words[1]!)) || hasBit(wide6, hashOf(a, 0))
}

export function hashOf(a: number, b: number): number {
  const hash = Math.imul(a ^ Math.imul(b, 0x85eb_ca77), 0x9e37_79b1)
  return Math.imul(hash ^ (hash >>> 15), 0xc2b2_ae3d) >>> 0
}

function hasBit(filter: Uint32Array, hash: number): boolean {
  const bit = hash >>> filter[0]!
  return ((filter[1 + (bit >>> 5)]! >>> (bit & 31)) & 1) !== 0
}
