// The first addresses of all pieces of a table, as tests and benchmarks compare and draw them.

import { tailTopBits } from '../../src/schema/table-layout.ts'
import type { SectionViews } from '../../src/schema/table-sections.ts'
import { newIpv4Starts, newIpv6Starts } from '../../src/table/lookup/piece-start.ts'

export function ipv4StartList(
  views: Pick<SectionViews, 'ipv4_index' | 'ipv4_starts'>,
): Uint32Array {
  const startOf = newIpv4Starts(views)
  return Uint32Array.from(views.ipv4_starts, (_, piece) => startOf(piece))
}

/** Bits 3 to 54 of the first address of each IPv6 piece: bucket and key in one number. */
export function ipv6KeyList(views: Pick<SectionViews, 'ipv6_index' | 'ipv6_keys'>): Float64Array {
  const writeStart = newIpv6Starts(views)
  const words = new Uint32Array(4)
  return Float64Array.from(views.ipv6_keys, (_, piece) => {
    writeStart(piece, words)
    return (words[0]! & 0x1fff_ffff) * 2 ** (32 - tailTopBits) + (words[1]! >>> tailTopBits)
  })
}
