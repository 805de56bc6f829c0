// A chunk's entries in columns, as the compiler reads them: decoded once, kept by the process that
// compiles, 45 bytes each.

import { wordsToBigint } from '../../ip/range.ts'
import { systemSize } from './list-nodes.ts'
import type { PrefixColumn } from './prefix-tree.ts'

export const rowKinds = { as: 0, ipv4: 1, ipv6: 2 } as const

export interface EntryRows {
  readonly count: number
  readonly kinds: Uint8Array
  readonly expiries: Uint32Array
  /** Eight words an entry: the first address, the last one; or the AS number. */
  readonly words: Uint32Array
  /** The code of its size (list-nodes.ts). */
  readonly sizeOf: (row: number, oddSize: (addresses: bigint) => number) => number
  /** Adds the prefixes of a range to a column, with a tag. */
  readonly eachPrefix: (row: number, column: PrefixColumn, add: AddPrefix, tag: number) => void
}

type AddPrefix = (column: PrefixColumn, length: number, tag: number) => number

/** Reads the lines of a chunk (list-chunk.ts); notes stay where they are. */
export function readEntryRows(text: string): EntryRows {
  const lines = text.split('\n')
  const count = lines.length
  const kinds = new Uint8Array(count)
  const expiries = new Uint32Array(count)
  const words = new Uint32Array(count * 8)
  lines.forEach((line, row) => {
    const keyEnd = line.indexOf(' ')
    const letter = line.charCodeAt(0)
    // 'a', '4' and '6'.
    kinds[row] = letter === 0x61 ? rowKinds.as : letter === 0x34 ? rowKinds.ipv4 : rowKinds.ipv6
    for (let at = 1, word = row * 8; at < keyEnd; at += 8) {
      words[word++] = parseInt(line.slice(at, at + 8), 16)
    }
    expiries[row] = parseInt(line.slice(keyEnd + 1, line.indexOf(' ', keyEnd + 1)), 36)
  })
  const rangeOf = (row: number): { readonly first: bigint; readonly last: bigint } => {
    const family = kinds[row] === rowKinds.ipv4 ? 4 : 6
    const width = family === 4 ? 1 : 4
    const value = (at: number): bigint => wordsToBigint(family, words.subarray(at, at + width))
    return { first: value(row * 8), last: value(row * 8 + width) }
  }
  const hostBits = (row: number): number => hostBitsOf(words, row, kinds[row] === rowKinds.ipv4)
  return {
    count,
    kinds,
    expiries,
    words,
    sizeOf: (row, oddSize) => {
      if (kinds[row] === rowKinds.as) return systemSize
      const bits = hostBits(row)
      if (bits >= 0) return bits
      const { first, last } = rangeOf(row)
      return oddSize(last - first + 1n)
    },
    eachPrefix: (row, column, add, tag) => {
      const width = column.words
      const bits = hostBits(row)
      if (bits >= 0) {
        const at = add(column, width * 32 - bits, tag)
        for (let i = 0; i < width; i++) column.firsts[at * width + i] = words[row * 8 + i]!
        return
      }
      const { first, last } = rangeOf(row)
      for (const prefix of prefixesOf(first, last, width * 32)) {
        const at = add(column, prefix.length, tag)
        for (let i = 0, rest = prefix.first; i < width; i++, rest >>= 32n) {
          column.firsts[at * width + width - 1 - i] = Number(rest & 0xffff_ffffn)
        }
      }
    },
  }
}

/** The bits behind the length of the prefix that a row's range is; -1 where it is none. */
function hostBitsOf(words: Uint32Array, row: number, isIpv4: boolean): number {
  const width = isIpv4 ? 1 : 4
  const at = row * 8
  let bits = 0
  let isOver = false
  for (let i = width - 1; i >= 0; i--) {
    const first = words[at + i]!
    const host = (first ^ words[at + width + i]!) >>> 0
    if ((host & (host + 1)) !== 0 || (first & host) !== 0 || (isOver && host !== 0)) return -1
    const own = 32 - Math.clz32(host)
    bits += own
    isOver ||= own < 32
  }
  return bits
}

/** The fewest prefixes that together are a range. */
export function* prefixesOf(
  from: bigint,
  last: bigint,
  bits: number,
): Generator<{ readonly first: bigint; readonly length: number }> {
  for (let first = from; first <= last;) {
    let host = 0n
    while (host < BigInt(bits)) {
      const mask = (2n << host) - 1n
      if ((first & mask) !== 0n || (first | mask) > last) break
      host += 1n
    }
    yield { first, length: bits - Number(host) }
    first += 1n << host
  }
}
