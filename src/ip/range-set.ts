// Range sets: arrays of ranges of one family, sorted, disjoint and never adjacent, so that equal
// sets have equal arrays. Every function but `toRangeSet` takes such sets. Not for the hot path.

import { assert } from '../base/assert.ts'
import type { Range } from './range.ts'

/** Sorts and merges any ranges of one family into a range set. */
export function toRangeSet(ranges: readonly Range[]): Range[] {
  const set: Range[] = []
  for (const range of [...ranges].sort(byFirst)) {
    const before = set.at(-1)
    assert(before === undefined || before.family === range.family, 'a range set has one family')
    if (before === undefined || range.first > before.last + 1n) {
      set.push(range)
    } else if (range.last > before.last) {
      set[set.length - 1] = { ...before, last: range.last }
    }
  }
  return set
}

/** Whether an address, of the set's family, or one of several lies in one of its ranges. */
export function rangeSetContains(set: readonly Range[], first: bigint, last = first): boolean {
  // Invariant: every range before `low` ends below first; every range from `high` on does not.
  let low = 0
  let high = set.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (set[middle]!.last < first) low = middle + 1
    else high = middle
  }
  return low < set.length && set[low]!.first <= last
}

/** The addresses of `from` that are not in `removed`. */
export function subtract(from: readonly Range[], removed: readonly Range[]): Range[] {
  assert((from[0] ?? removed[0])?.family === (removed[0] ?? from[0])?.family, differ)
  const rest: Range[] = []
  let r = 0
  for (const { family, first, last } of from) {
    // What lies before `next` is decided.
    let next = first
    while (r < removed.length && removed[r]!.last < first) r++
    // The last hole of this range may reach into the following one, so `r` stays on it.
    for (; r < removed.length && removed[r]!.first <= last; r++) {
      const hole = removed[r]!
      if (hole.first > next) rest.push({ family, first: next, last: hole.first - 1n })
      next = hole.last + 1n
      if (hole.last >= last) break
    }
    if (next <= last) rest.push({ family, first: next, last })
  }
  return rest
}

const differ = 'the sets differ in family'

function byFirst(a: Range, b: Range): number {
  return a.first < b.first ? -1 : a.first > b.first ? 1 : 0
}
