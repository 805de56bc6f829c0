// The announced address space of a table: all pieces that belong to a network, end to end, so that
// a number below its size stands for one place in it. Read from the table's views, because what is
// announced is what callers ask about; and the rest, for lookups that find no network. Not for
// lookups.
//
// IPv4 is counted in addresses, IPv6 in blocks of 2^73 (the table's keys); the bits below a key are
// drawn. Keys with several pieces (tail groups) are left out: they are a few blocks among 10^14.

import type { Family } from '../../../src/ip/address.ts'
import { isBogon } from '../../../src/ip/special-purpose.ts'
import { recordWords, tailGroupFlag } from '../../../src/schema/table-layout.ts'
import type { SectionViews } from '../../../src/schema/table-sections.ts'
import { ipv4StartList, ipv6KeyList } from '../../../test/table/piece-lists.ts'
import type { Random } from '../../harness/random.ts'

export interface AnnouncedSpace {
  readonly family: Family
  /** How many units (IPv4 addresses, IPv6 keys) it has; at most 2^53. */
  readonly size: number
  /** Writes one of its addresses, each equally likely. */
  readonly draw: (random: Random, out: Uint32Array) => void
}

const keyEnd = 2 ** 52

/** Throws where no piece belongs to a network: nothing can be drawn then. */
export function announcedSpace(views: SectionViews, family: Family): AnnouncedSpace {
  return spaceOf(views, family, (network) => network !== 0)
}

/** What belongs to no network and is no bogon: a lookup searches as ever and finds nothing. */
export function unannouncedSpace(views: SectionViews, family: Family): AnnouncedSpace {
  const space = spaceOf(views, family, (network) => network === 0)
  const draw = (random: Random, out: Uint32Array): void => {
    // Bogons are judged before the search; they are drawn again.
    for (let tries = 0; tries < 10_000; tries++) {
      space.draw(random, out)
      if (!isBogon(family, out)) return
    }
    throw new RangeError(`All IPv${family} addresses without a network are bogons.`)
  }
  return { ...space, draw }
}

function spaceOf(
  views: SectionViews,
  family: Family,
  takes: (network: number) => boolean,
): AnnouncedSpace {
  const starts = family === 4 ? ipv4StartList(views) : ipv6KeyList(views)
  const records = family === 4 ? views.ipv4_records : views.ipv6_records
  const end = family === 4 ? 2 ** 32 : keyEnd
  const firsts: number[] = []
  /** befores[i] is how many units lie before piece i. */
  const befores: number[] = []
  let size = 0
  for (let piece = 0; piece < starts.length; piece++) {
    const record = records[piece]!
    if (record >= tailGroupFlag || !takes(views.records[record * recordWords]!)) continue
    const first = starts[piece]!
    firsts.push(first)
    befores.push(size)
    size += (starts[piece + 1] ?? end) - first
  }
  if (size === 0) throw new RangeError(`The table has no network for such IPv${family} addresses.`)
  const firstOf = Float64Array.from(firsts)
  const beforeOf = Float64Array.from(befores)
  const draw = (random: Random, out: Uint32Array): void => {
    const unit = random.below(size)
    const piece = lastAtMost(beforeOf, unit)
    const value = firstOf[piece]! + (unit - beforeOf[piece]!)
    if (family === 4) writeIpv4(value, out)
    else writeIpv6(value, random, out)
  }
  return { family, size, draw }
}

function writeIpv4(value: number, out: Uint32Array): void {
  out.fill(0)
  out[0] = value
}

/** The 52 bits behind 001, then 73 drawn ones (src/schema/table-layout.ts). */
function writeIpv6(key: number, random: Random, out: Uint32Array): void {
  out[0] = 0x2000_0000 + Math.floor(key / 0x80_0000)
  out[1] = (key % 0x80_0000) * 0x200 + (random.word() & 0x1ff)
  out[2] = random.word()
  out[3] = random.word()
}

/** The last i with values[i] <= value; values ascend and values[0] <= value. */
export function lastAtMost(values: Float64Array, value: number): number {
  let low = 0
  let high = values.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (values[middle]! <= value) low = middle
    else high = middle - 1
  }
  return low
}
