// Verifies the finer IPv6 indexes (src/schema/table-layout.ts): each slot of a crowded bucket, and
// of a crowded slot, says of the keys what the first-level index says of its buckets, and nothing
// else stands between them. For keys and first-level index that have been verified; not for
// lookups.

import {
  indexBuckets,
  keyBucketDivisor,
  secondLevel,
  slotBits,
  thirdLevel,
} from '../../../schema/table-layout.ts'
import type { SectionViews } from '../../../schema/table-sections.ts'

type Section = 'ipv6_second' | 'ipv6_third'
type Level = typeof secondLevel | typeof thirdLevel
type Fail = (section: Section, element: number, why: string) => never

/** `more` keys behind the one of rank `low`, in the space of `size` keys that begins at `first`. */
interface KeyBucket {
  readonly low: number
  readonly more: number
  readonly first: number
  readonly size: number
}

/** Throws what `fail` throws, with the section's first element that does not hold. */
export function verifyIpv6Index(views: SectionViews, fail: Fail): void {
  const { ipv6_index: index, ipv6_second, ipv6_third } = views
  // A table from before there were any.
  const second = newLevelCheck(views, 'ipv6_second', secondLevel, fail)
  const third = newLevelCheck(views, 'ipv6_third', thirdLevel, fail)
  for (let bucket = 0; bucket < indexBuckets; bucket++) {
    const low = index[bucket]!
    const more = index[bucket + 1]! - low
    const first = bucket * keyBucketDivisor
    second.check({ low, more, first, size: keyBucketDivisor }, third.check)
  }
  second.expectZeros(ipv6_second.length)
  third.expectZeros(ipv6_third.length)
}

interface LevelCheck {
  /** Gives each of its slots to `visit`. What is no crowd has none. */
  readonly check: (crowd: KeyBucket, visit?: (slot: KeyBucket) => void) => void
  /** The elements from the last crowd's to before `to` are 0. */
  readonly expectZeros: (to: number) => void
}

function newLevelCheck(
  { ipv6_keys: keys, ...views }: SectionViews,
  section: Section,
  level: Level,
  fail: Fail,
): LevelCheck {
  const elements = views[section]
  /** What lies before has been checked. */
  let end = 0
  const expectZeros = (to: number): void => {
    for (; end < to; end++) {
      if (elements[end] !== 0) fail(section, end, 'it is not zero where no slot is')
    }
  }
  const check = (crowd: KeyBucket, visit?: (slot: KeyBucket) => void): void => {
    if (crowd.more < level.crowded) return
    const slots = 2 ** slotBits(crowd.more, level.share)
    const size = crowd.size / slots
    const from = crowd.low >>> level.share
    const last = crowd.low + crowd.more
    expectZeros(from)
    end = from + slots + 1
    for (let slot = 0; slot <= slots; slot++) {
      const piece = elements[from + slot]!
      const first = crowd.first + slot * size
      const inside = piece >= crowd.low && piece <= last
      if (!inside || keys[piece]! > first || (keys[piece + 1] ?? Infinity) <= first) {
        fail(section, from + slot, 'it is not the last key at or below its slot')
      }
    }
    if (visit === undefined) return
    for (let slot = 0; slot < slots; slot++) {
      const low = elements[from + slot]!
      const more = elements[from + slot + 1]! - low
      visit({ low, more, first: crowd.first + slot * size, size })
    }
  }
  return { check, expectZeros }
}
