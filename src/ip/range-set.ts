// Range sets: sorted, disjoint, non-adjacent ranges of one family, so that equal sets have equal
// arrays. All functions except `toRangeSet` expect such sets. Not for the hot path.

import { assert } from '../base/assert.ts'
import type { Range } from './range.ts'

/** Sorts and merges ranges of one family. */
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

/** Whether an address, or one of several, is in the set. */
export function rangeSetContains(set: readonly Range[], first: bigint, last = first): boolean {
  // Invariant: ranges before `low` end before `first`; ranges from `high` on do not.
  let low = 0
  let high = set.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (set[middle]!.last < first) low = middle + 1
    else high = middle
  }
  return low < set.length && set[low]!.first <= last
}

export function subtract(from: readonly Range[], removed: readonly Range[]): Range[] {
  assert((from[0] ?? removed[0])?.family === (removed[0] ?? from[0])?.family, differ)
  const rest: Range[] = []
  let r = 0
  for (const { family, first, last } of from) {
    // Addresses before `next` are decided.
    let next = first
    while (r < removed.length && removed[r]!.last < first) r++
    // This range's last hole may reach into the next range, so `r` stays on it.
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

const byFirst = (a: Range, b: Range): number => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0)
