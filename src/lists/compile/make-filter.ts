// Makes the filter before the lookup in compiled lists (list-filter.ts) from their pieces.

import { grown } from '../../base/grown-array.ts'
import { writeBefore } from '../../ip/prefix-split.ts'
import { type FilterSections, hashOf } from '../list-filter.ts'
import type { Pieces } from './prefix-tree.ts'

/** At most one in sixteen bits is set, below the largest filter. */
const bitsOfPrefix = 16
const bitsMaxLog = 24
const hashesMax = 2 ** bitsMaxLog
/** For one piece: 65,536 /24s are a /8, 8,192 /32s a /19; a wider one sets every bit. */
const prefixesMax4 = 2 ** 16
const prefixesMax6 = 2 ** 8
const prefixesMaxWide6 = 2 ** 13

export function makeFilters(ipv4: Pieces, ipv6: Pieces): FilterSections {
  const by24 = newFilter()
  const by64 = newFilter()
  const by32 = newFilter()
  eachCovered(ipv4, 1, ([first], [last]) => {
    const [from, to] = [first! >>> 8, last! >>> 8]
    if (to - from >= prefixesMax4) by24.setAll()
    else for (let prefix = from; prefix <= to; prefix++) by24.add(hashOf(prefix, 0))
  })
  eachCovered(ipv6, 4, ([a, b], [lastA, lastB]) => {
    if (a === lastA && lastB! - b! < prefixesMax6) {
      for (let prefix = b!; prefix <= lastB!; prefix++) by64.add(hashOf(a!, prefix))
    } else if (lastA! - a! >= prefixesMaxWide6) by32.setAll()
    else for (let prefix = a!; prefix <= lastA!; prefix++) by32.add(hashOf(prefix, 0))
  })
  return { filter4: by24.words(), filter6: by64.words(), wide6: by32.words() }
}

/** `take` gets the first and the last address of each piece, as words. */
function eachCovered(
  { starts, nodes }: Pick<Pieces, 'starts' | 'nodes'>,
  width: 1 | 4,
  take: (first: Uint32Array, last: Uint32Array) => void,
): void {
  for (let piece = 0; piece < nodes.length; piece++) {
    if (nodes[piece] === 0) continue
    const at = piece * width
    const last = starts.slice(at + width, at + 2 * width)
    if (last.length === 0) take(starts.subarray(at, at + width), new Uint32Array(width).fill(-1))
    else {
      // The address before the next piece.
      writeBefore(last, last)
      take(starts.subarray(at, at + width), last)
    }
  }
}

function newFilter() {
  let hashes = new Uint32Array(1024)
  let count = 0
  let isFull = false
  return {
    add: (hash: number) => {
      // This many would set nearly all bits of the largest filter.
      if (count >= hashesMax) {
        isFull = true
        return
      }
      if (count === hashes.length) hashes = grown(hashes, count * 2)
      hashes[count++] = hash
    },
    setAll: () => {
      isFull = true
    },
    words: () => {
      const log = Math.min(bitsMaxLog, Math.max(5, Math.ceil(Math.log2(count * bitsOfPrefix + 1))))
      const words = new Uint32Array(1 + 2 ** (log - 5))
      if (isFull) words.fill(0xffff_ffff)
      const shift = 32 - log
      for (let i = 0; i < count; i++) {
        const bit = hashes[i]! >>> shift
        words[1 + (bit >>> 5)]! |= 1 << (bit & 31)
      }
      words[0] = shift
      return words
    },
  }
}
