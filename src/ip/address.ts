// Addresses. On the hot path: a family and up to four 32-bit words in a caller-owned Uint32Array,
// most significant first; IPv4 in words[0] with the rest 0, IPv6 in words[0] to words[3]. Elsewhere
// (build, ranges): a family and a bigint.

export type Family = 4 | 6

/** Enough words for either family. */
export const newAddressWords = (): Uint32Array => new Uint32Array(4)

/**
 * Compares addresses of `words` words, at `atA` of `a` and `atB` of `b`: negative, 0 or positive.
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
