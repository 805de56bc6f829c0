// How evidence fades with age: d = 2^(−age / half-life). Kinds whose feeds state a standing fact
// (a hoster's, bot's or relay's ranges) have no half-life: they neither fade nor are dropped here.
// Whether such a feed still lists the range is decided where evidence is folded, not here.

import { kinds } from '../../model/kind.ts'
import type { Kind } from '../../model/kind.ts'

/** Evidence of a kind that fades is dropped when it is older than this. */
export const daysKeptMax = 90

/** Days in which evidence loses half of its strength; `undefined` where it never does. */
export const halfLifeDays: Readonly<Record<Kind, number | undefined>> = {
  tor: 1,
  residential_proxy: 3,
  proxy: 7,
  blocklist: 14,
  vpn: 30,
  hosting: undefined,
  bot: undefined,
  relay: undefined,
}

// By age in days: a build asks millions of times for a few hundred values.
const decayTables = new Map<Kind, Float64Array>()
for (const kind of kinds) {
  const halfLife = halfLifeDays[kind]
  if (halfLife === undefined) continue
  const byAge = new Float64Array(daysKeptMax + 1)
  decayTables.set(
    kind,
    byAge.map((_, age) => 2 ** (-age / halfLife)),
  )
}

/**
 * What is left of evidence of `kind` after `ageDays` (whole days; below 0 counts as 0): above 0 to
 * 1, or exactly 0 where it is dropped.
 */
export function decayOf(kind: Kind, ageDays: number): number {
  const table = decayTables.get(kind)
  if (table === undefined || ageDays <= 0) return 1
  return table[ageDays] ?? 0
}
