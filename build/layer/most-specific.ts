// Hot within the build: overlapping ranges with one value each become a layer. The smaller range
// wins; of equal sizes the later one.
//
//   value 1   ├──────────────────────────────────┤
//   value 2          ├───────────────────┤
//   value 3                        ├─────────────────────┤      (as large as 2, and later)
//   layer    0│  1   │      2      │          3          │ 0
//

import { type Family, compareWords } from '../../src/ip/address.ts'
import { grown } from '../../src/base/grown-array.ts'
import { wordsPerStart, type Layer, newLayerPieces } from './layer.ts'

/**
 * Ranges as columns: range i is `firsts` to `lasts`, inclusive, at i * wordsPerStart; values are
 * not 0. The arrays may be longer than `count`.
 */
export interface RangeColumns {
  readonly family: Family
  readonly count: number
  readonly firsts: Uint32Array
  readonly lasts: Uint32Array
  readonly values: Uint32Array
}

const capacityAtFirst = 1 << 16

export function newRangeColumns(family: Family) {
  const words = wordsPerStart(family)
  let firsts = new Uint32Array(capacityAtFirst * words)
  let lasts = new Uint32Array(capacityAtFirst * words)
  let values = new Uint32Array(capacityAtFirst)
  let count = 0
  const add = (first: Uint32Array, last: Uint32Array, value: number): void => {
    if (count === values.length) {
      firsts = grown(firsts, firsts.length * 2)
      lasts = grown(lasts, lasts.length * 2)
      values = grown(values, values.length * 2)
    }
    for (let word = 0; word < words; word++) {
      firsts[count * words + word] = first[word]!
      lasts[count * words + word] = last[word]!
    }
    values[count++] = value
  }
  return { add, ranges: (): RangeColumns => ({ family, count, firsts, lasts, values }) }
}

/** Order matters only between ranges of equal size. */
export function flattenMostSpecific(ranges: RangeColumns): Layer {
  const { family, count, firsts, lasts, values } = ranges
  const words = wordsPerStart(family)
  const pieces = newLayerPieces(family)
  const active = newHeap(ranges)
  const order = ascending(ranges)
  const at = new Uint32Array(words)
  if (count === 0 || compare(firsts, order[0]!, at, 0, words) > 0) pieces.add(at, 0)

  let next = 0
  for (;;) {
    const top = active.top()
    if (top < 0) {
      if (next === count) break
      at.set(wordsAt(firsts, order[next]!, words))
    } else if (next < count && compare(firsts, order[next]!, lasts, top, words) <= 0) {
      at.set(wordsAt(firsts, order[next]!, words))
    } else {
      // The winner ends here. Ranges beneath it that have ended are popped as they surface.
      at.set(wordsAt(lasts, top, words))
      if (!increment(at)) break
      while (active.top() >= 0 && compare(lasts, active.top(), at, 0, words) < 0) active.pop()
    }
    while (next < count && compare(firsts, order[next]!, at, 0, words) === 0) {
      active.push(order[next++]!)
    }
    const winner = active.top()
    pieces.add(at, winner < 0 ? 0 : values[winner]!)
  }
  return pieces.layer()
}

/** Range numbers, ascending by first address. Publishers usually sort. */
function ascending(ranges: RangeColumns): Uint32Array {
  const { family, count, firsts } = ranges
  const words = wordsPerStart(family)
  const order = new Uint32Array(count)
  let sorted = true
  for (let row = 0; row < count; row++) {
    order[row] = row
    if (row > 0 && compare(firsts, row - 1, firsts, row, words) > 0) sorted = false
  }
  if (!sorted) order.sort((a, b) => compare(firsts, a, firsts, b, words))
  return order
}

/**
 * A binary heap with the smallest range, which wins, on top (-1 if empty). It holds the ranges that
 * overlap at one address.
 */
function newHeap(ranges: RangeColumns) {
  const { family, firsts, lasts } = ranges
  const words = wordsPerStart(family)
  const rows: number[] = []

  const size = (row: number): number | bigint => {
    if (words === 1) return lasts[row]! - firsts[row]!
    return bigintAt(lasts, row) - bigintAt(firsts, row)
  }
  const wins = (a: number, b: number): boolean => {
    const sizeA = size(a)
    const sizeB = size(b)
    return sizeA < sizeB || (sizeA === sizeB && a > b)
  }
  const push = (row: number): void => {
    let hole = rows.length
    rows.push(row)
    while (hole > 0) {
      const parent = (hole - 1) >> 1
      if (!wins(row, rows[parent]!)) break
      rows[hole] = rows[parent]!
      hole = parent
    }
    rows[hole] = row
  }
  const pop = (): void => {
    const row = rows.pop()!
    if (rows.length === 0) return
    let hole = 0
    for (;;) {
      let child = hole * 2 + 1
      if (child >= rows.length) break
      if (child + 1 < rows.length && wins(rows[child + 1]!, rows[child]!)) child++
      if (!wins(rows[child]!, row)) break
      rows[hole] = rows[child]!
      hole = child
    }
    rows[hole] = row
  }
  return { top: (): number => rows[0] ?? -1, push, pop }
}

const wordsAt = (array: Uint32Array, row: number, words: number): Uint32Array =>
  array.subarray(row * words, row * words + words)

function bigintAt(array: Uint32Array, row: number): bigint {
  const at = row * 4
  const high = (BigInt(array[at]!) << 32n) | BigInt(array[at + 1]!)
  const low = (BigInt(array[at + 2]!) << 32n) | BigInt(array[at + 3]!)
  return (high << 64n) | low
}

const compare = (a: Uint32Array, rowA: number, b: Uint32Array, rowB: number, words: number) =>
  compareWords(a, rowA * words, b, rowB * words, words)

/** The next address, in place; false after the last. */
function increment(address: Uint32Array): boolean {
  for (let word = address.length - 1; word >= 0; word--) {
    address[word] = address[word]! + 1
    if (address[word] !== 0) return true
  }
  return false
}
