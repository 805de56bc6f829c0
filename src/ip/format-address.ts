// Canonical text of an address (RFC 5952): lower case, no leading zeros, the longest run of two or
// more zero groups as `::`, the leftmost of equal runs. IPv4-mapped addresses are written mixed,
// `::ffff:192.0.2.1` (RFC 5952, 5); all others in groups. It allocates the string it
// returns. The inverse of parse-address.ts: parse(format(a)) = a for every address.

import type { Family } from './address.ts'
import { groupAt } from './format-address-bytes.ts'

/** Canonical text; IPv4 is read from words[0] alone. */
export function formatAddress(family: Family, words: Uint32Array): string {
  if (family === 4) return formatIpv4(words[0]!)
  if (words[0] === 0 && words[1] === 0 && words[2] === 0xffff) {
    return `::ffff:${formatIpv4(words[3]!)}`
  }
  return formatGroups(words)
}

/** Dotted quad of a 32-bit value. */
export function formatIpv4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 0xff}.${(value >>> 8) & 0xff}.${value & 0xff}`
}

function formatGroups(words: Uint32Array): string {
  const { first, length } = longestZeroRun(words)
  let text = ''
  for (let index = 0; index < 8; index++) {
    if (index === first) {
      text += '::'
      index += length - 1
    } else {
      // Behind `::` the separator is already there.
      if (index > 0 && index !== first + length) text += ':'
      text += groupAt(words, index).toString(16)
    }
  }
  return text
}

/** The run that `::` stands for; `first` is -9 where there is none, so that no index matches. */
function longestZeroRun(words: Uint32Array): { readonly first: number; readonly length: number } {
  let first = -9
  let length = 1
  let run = 0
  for (let index = 0; index < 8; index++) {
    run = groupAt(words, index) === 0 ? run + 1 : 0
    if (run > length) {
      length = run
      first = index - run + 1
    }
  }
  return { first, length }
}
