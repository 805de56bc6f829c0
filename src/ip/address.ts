// What an address is to this program. On the hot path it is a family and up to four 32-bit words in
// a caller-owned Uint32Array, most significant first: IPv4 in words[0] with the rest 0, IPv6 in
// words[0] to words[3]. Off the hot path (build, ranges) it is a family and a bigint.

/** 4 or 6. */
export type Family = 4 | 6

/** Words enough for either family. */
export function newAddressWords(): Uint32Array {
  return new Uint32Array(4)
}

/**
 * Below 0, 0 or above 0, as the address of so many `words` at place `atA` of `a` is below, equal to
 * or above the one at `atB` of `b`.
 */
export function compareWords(
  a: Uint32Array,
  atA: number,
  b: Uint32Array,
  atB: number,
  words: number,
): number {
  for (let word = 0; word < words; word++) {
    const difference = a[atA + word]! - b[atB + word]!
    if (difference !== 0) return difference
  }
  return 0
}
