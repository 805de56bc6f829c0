// Interning: equal things get one number, by first appearance, so equal inputs give equal tables.

import { inLargePages } from '../../src/base/system/memory-map.ts'
import { newAddressWords } from '../../src/ip/address.ts'
import { bigintToWords, type Range } from '../../src/ip/range.ts'

export function newInterner<T>(key: (value: T) => string, firstId: 0 | 1) {
  const ids = new Map<string, number>()
  const values: T[] = []
  return {
    values: values as readonly T[],
    id: (value: T): number => {
      const text = key(value)
      const known = ids.get(text)
      if (known !== undefined) return known
      values.push(value)
      const id = values.length - 1 + firstId
      ids.set(text, id)
      return id
    },
  }
}

/**
 * Numbers tuples of four 32-bit words from 0. Open addressing over typed arrays, at most half full:
 * a Map would need a string per tuple and ends at 2^24 entries.
 */
export function newTupleInterner() {
  let capacity = 1 << 10
  let slots = inLargePages(new Uint32Array(capacity))
  let tuples = inLargePages(new Uint32Array(capacity * 2))
  let count = 0

  function grow(): void {
    capacity *= 2
    const larger = inLargePages(new Uint32Array(capacity * 2))
    larger.set(tuples.subarray(0, count * 4))
    tuples = larger
    slots = inLargePages(new Uint32Array(capacity))
    for (let id = 0; id < count; id++) {
      const at = id * 4
      slots[freeSlot(hash(tuples[at]!, tuples[at + 1]!, tuples[at + 2]!, tuples[at + 3]!))] = id + 1
    }
  }

  function freeSlot(start: number): number {
    let slot = start & (capacity - 1)
    while (slots[slot] !== 0) slot = (slot + 1) & (capacity - 1)
    return slot
  }

  return {
    get count(): number {
      return count
    },
    id(a: number, b: number, c: number, d: number): number {
      let slot = hash(a, b, c, d) & (capacity - 1)
      for (;;) {
        const id = slots[slot]! - 1
        if (id < 0) break
        const at = id * 4
        if (
          tuples[at] === a &&
          tuples[at + 1] === b &&
          tuples[at + 2] === c &&
          tuples[at + 3] === d
        ) {
          return id
        }
        slot = (slot + 1) & (capacity - 1)
      }
      const at = count * 4
      tuples[at] = a
      tuples[at + 1] = b
      tuples[at + 2] = c
      tuples[at + 3] = d
      slots[slot] = ++count
      if (count * 2 >= capacity) grow()
      return count - 1
    },
    words: (): Uint32Array => tuples.slice(0, count * 4),
  }
}

function hash(a: number, b: number, c: number, d: number): number {
  let h = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b)
  h ^= Math.imul(c, 0xc2b2ae35) ^ Math.imul(d, 0x27d4eb2f)
  h ^= h >>> 15
  h = Math.imul(h, 0x2c1b3c6d)
  return (h ^ (h >>> 13)) >>> 0
}

export type RangeInterner = ReturnType<typeof newRangeInterner>

/** Numbers pairs of a number and a range from 0. Text keys would cost half a second per million. */
export function newRangeInterner() {
  const pairs = newTupleInterner()
  /** Numbers of IPv6 addresses, each of which fills a tuple. Many feeds have none. */
  let ends: ReturnType<typeof newTupleInterner> | undefined
  const words = newAddressWords()
  const endId = (value: bigint): number => {
    ends ??= newTupleInterner()
    bigintToWords(6, value, words)
    return ends.id(words[0]!, words[1]!, words[2]!, words[3]!)
  }
  return {
    get count(): number {
      return pairs.count
    },
    /** `fact`: an unsigned 32-bit number. An absent range is a value of its own. */
    id(fact: number, range: Range | undefined): number {
      if (range === undefined) return pairs.id(fact, 0, 0, 0)
      const { family, first, last } = range
      if (family === 4) return pairs.id(fact, Number(first), Number(last), 4)
      return pairs.id(fact, endId(first), endId(last), 6)
    },
  }
}
