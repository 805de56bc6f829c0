// Hot path: `specialPiece`, after its first call. No allocation, throw or closure there.
//
// Cuts a family's addresses into pieces of only bogons or none, and of one form of embedded IPv4
// addresses (embedded-ipv4.ts) or none.

import { compareWords, type Family, newAddressWords } from './address.ts'
import { bigintToWords, maxAddress, parsePrefix, type Range } from './range.ts'
import { bogonRanges } from './special-purpose.ts'

/** The number of the piece that contains the address. */
export function specialPiece(family: Family, words: Uint32Array): number {
  const starts = (known[family] ??= makeStarts(family))
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (compareWords(starts[middle]!, 0, words, 0, family === 4 ? 1 : 4) <= 0) low = middle
    else high = middle - 1
  }
  return low
}

/** IPv4-mapped, NAT64, Teredo, 6to4; the first as numbers, since its text means IPv4. */
export const embeddedRanges: readonly Range[] = [
  { family: 6, first: 0xffff_0000_0000n, last: 0xffff_ffff_ffffn },
  ...['64:ff9b::/96', '2001::/32', '2002::/16'].map((text) => parsePrefix(text)!),
]

const known: Record<Family, readonly Uint32Array[] | undefined> = { 4: undefined, 6: undefined }

function makeStarts(family: Family): readonly Uint32Array[] {
  const ranges = [...bogonRanges(family), ...embeddedRanges.filter((one) => one.family === family)]
  const starts = new Set([0n, ...ranges.flatMap(({ first, last }) => [first, last + 1n])])
  return [...starts]
    .filter((start) => start <= maxAddress(family))
    .sort((a, b) => (a < b ? -1 : 1))
    .map((start) => {
      const words = newAddressWords()
      bigintToWords(family, start, words)
      return words
    })
}
