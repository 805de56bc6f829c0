// A chunk's entries in columns, decoded once and kept by the compiler: 45 bytes each.

import { compareWords } from '../../ip/address.ts'
import { wordsToBigint } from '../../ip/range.ts'
import { systemSize } from './list-nodes.ts'
import { addPower, type PrefixColumn } from './prefix-tree.ts'

export const rowKinds = { as: 0, ipv4: 1, ipv6: 2 } as const

export interface EntryRows {
  readonly count: number
  readonly kinds: Uint8Array
  readonly expiries: Uint32Array
  /** The first address and the last one; or the AS number. */
  readonly words: Uint32Array
  /** The code of its size (list-nodes.ts). */
  readonly sizeOf: (row: number, oddSize: (addresses: bigint) => number) => number
  readonly eachPrefix: (row: number, column: PrefixColumn, add: AddPrefix, tag: number) => void
}

type AddPrefix = (column: PrefixColumn, length: number, tag: number) => number

/** The lines of a chunk (list-chunk.ts); notes stay there. */
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
      eachPrefixOf(words, row * 8, width, (first, length) => {
        const at = add(column, length, tag)
        for (let i = 0; i < width; i++) column.firsts[at * width + i] = first[i]!
      })
    },
  }
}

/** Behind the length of the prefix that a row's range is; -1 where it is none. */
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

const current = new Uint32Array(4)

/**
 * The fewest prefixes of the range between the addresses in `ends`; returns how many. `first` is
 * good for the call of `take` only. An odd range of IPv6 has up to 254: with big integers, 16,000
 * such entries took most of a minute.
 */
export function eachPrefixOf(
  ends: Uint32Array,
  at: number,
  width: 1 | 4,
  take: (first: Uint32Array, length: number) => void,
): number {
  for (let i = 0; i < width; i++) current[i] = ends[at + i]!
  for (let count = 1; ; count++) {
    const host = Math.min(zerosBehind(width), powerUpTo(ends, at + width, width))
    take(current, width * 32 - host)
    if (addPower(current, 0, width, host)) return count
    if (compareWords(current, 0, ends, at + width, width) > 0) return count
  }
}

function zerosBehind(width: 1 | 4): number {
  for (let i = width - 1; i >= 0; i--) {
    const word = current[i]!
    if (word !== 0) return (width - i) * 32 - 1 - Math.clz32(word & -word)
  }
  return width * 32
}

/** The highest n for which 2^n addresses from `current` on end at or below `last`. */
function powerUpTo(last: Uint32Array, at: number, width: 1 | 4): number {
  let power = 0
  let carry = 1
  for (let i = width - 1; i >= 0; i--) {
    const size = last[at + i]! - current[i]! + carry
    carry = size < 0 ? -1 : Number(size > 0xffff_ffff)
    const word = size >>> 0
    if (word !== 0) power = (width - i) * 32 - 1 - Math.clz32(word)
  }
  return carry === 1 ? width * 32 : power
}
