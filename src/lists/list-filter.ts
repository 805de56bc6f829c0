// Hot path: `mayCoverIpv4` and `mayCoverIpv6`. Forbidden there: allocation, throw, closure.
//
// A small filter before the look-up in compiled lists (open-lists.ts): nearly all addresses are on
// none, and a million entries fit in no processor's cache, two megabytes of bits do. A bit says
// that some address of a prefix is covered; prefixes that share a bit are told apart by the
// look-up.
//
//   filter4   by /24
//   filter6   by /64, of what covers a few of them at most
//   wide6     by /32, of what covers more
//
// Each is words: how far a hash is shifted to the right to be a bit's number, then the bits.
//
// compile/make-filter.ts makes them. Invariant: no address that an entry covers is without its bit.

export type FilterSections = Readonly<Record<'filter4' | 'filter6' | 'wide6', Uint32Array>>

/** Whether an entry may cover it; `value` is the address. */
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

/** Of a prefix, for its bit. */
export function hashOf(a: number, b: number): number {
  const hash = Math.imul(a ^ Math.imul(b, 0x85eb_ca77), 0x9e37_79b1)
  return Math.imul(hash ^ (hash >>> 15), 0xc2b2_ae3d) >>> 0
}

function hasBit(filter: Uint32Array, hash: number): boolean {
  const bit = hash >>> filter[0]!
  return ((filter[1 + (bit >>> 5)]! >>> (bit & 31)) & 1) !== 0
}
