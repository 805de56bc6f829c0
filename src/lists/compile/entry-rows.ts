// A chunk's entries in columns, decoded once and kept by the compiler: 45 bytes each.

import { newAddressWords } from '../../ip/address.ts'
import { type TakePrefix, splitRange } from '../../ip/prefix-split.ts'
import { wordsToBigint } from '../../ip/range.ts'
import { systemSize } from './list-nodes.ts'
import type { PrefixColumn } from './prefix-tree.ts'

export const rowKinds = { as: 0, ipv4: 1, ipv6: 2 } as const

export interface EntryRows {
  readonly count: number
  readonly kinds: Uint8Array
  readonly expiries: Uint32Array
  /** The first and the last address; or the AS number. */
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
      splitEnds(words, row * 8, width, (first, length) => {
        const at = add(column, length - 128 + width * 32, tag)
        for (let i = 0; i < width; i++) column.firsts[at * width + i] = first[4 - width + i]!
      })
    },
  }
}

/** After the length of the prefix that a row's range is; -1 if it is none. */
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

const first = newAddressWords()
const last = newAddressWords()

/** The fewest prefixes of the range between two addresses in `ends`, as made by `splitRange`. */
export function splitEnds(ends: Uint32Array, at: number, width: 1 | 4, take: TakePrefix): void {
  first.fill(0)
  last.fill(0)
  first.set(ends.subarray(at, at + width), 4 - width)
  last.set(ends.subarray(at + width, at + 2 * width), 4 - width)
  splitRange(first, last, take)
}
