// Verifies the finer IPv6 indexes (src/schema/table-layout.ts): each slot of a crowded bucket or
// slot indexes its keys, as the first level does its buckets, and all else is zero. Keys and first
// level are verified already.

import {
  bucketKeys,
  ipv6IndexBuckets,
  secondLevel,
  slotBits,
  thirdLevel,
} from '../../../schema/table-layout.ts'
import type { SectionViews } from '../../../schema/table-sections.ts'
import type { Fail } from '../table-corrupt.ts'

/** `count` keys from rank `from`, in the `size` keys of space from `first`. */
type KeyBucket = Readonly<Record<'from' | 'count' | 'first' | 'size', number>>

export function verifyIpv6Index(views: SectionViews, fail: Fail): void {
  const { ipv6_index: index, ipv6_second, ipv6_third } = views
  const second = newLevelCheck(views, 'ipv6_second', secondLevel, fail)
  const third = newLevelCheck(views, 'ipv6_third', thirdLevel, fail)
  for (let bucket = 0; bucket < ipv6IndexBuckets; bucket++) {
    const from = index[bucket]!
    const count = index[bucket + 1]! - from
    if (count < second.crowded) continue
    second.check({ from, count, first: 0, size: bucketKeys }, third)
  }
  second.expectZeros(ipv6_second.length)
  third.expectZeros(ipv6_third.length)
}

interface LevelCheck {
  readonly crowded: number
  readonly check: (crowd: KeyBucket, finer?: LevelCheck) => void
  readonly expectZeros: (to: number) => void
}

function newLevelCheck(
  { ipv6_keys: keys, ...views }: SectionViews,
  section: 'ipv6_second' | 'ipv6_third',
  level: typeof secondLevel | typeof thirdLevel,
  fail: Fail,
): LevelCheck {
  const elements = views[section]
  let end = 0
  /** Expects zeros from the last crowd's elements to `to`. */
  const expectZeros = (to: number): void => {
    for (; end < to; end++) {
      if (elements[end] !== 0) fail(section, end, 'it is not zero where no slot is')
    }
  }
  /** Checks its slots and, by `finer`, the crowded ones. */
  const check = (crowd: KeyBucket, finer?: LevelCheck): void => {
    const slots = 2 ** slotBits(crowd.count, level.share)
    const size = crowd.size / slots
    const at = crowd.from >>> level.share
    const to = crowd.from + crowd.count
    expectZeros(at)
    end = at + slots + 1
    for (let slot = 0; slot <= slots; slot++) {
      const piece = elements[at + slot]!
      const first = crowd.first + slot * size
      const isFirst =
        piece >= crowd.from &&
        piece <= to &&
        (piece === to || keys[piece]! >= first) &&
        (piece === crowd.from || keys[piece - 1]! < first)
      if (!isFirst) fail(section, at + slot, 'it is not the first key of its slot')
    }
    if (finer === undefined) return
    for (let slot = 0; slot < slots; slot++) {
      const from = elements[at + slot]!
      const count = elements[at + slot + 1]! - from
      if (count < finer.crowded) continue
      finer.check({ from, count, first: crowd.first + slot * size, size })
    }
  }
  return { crowded: level.crowded, check, expectZeros }
}
