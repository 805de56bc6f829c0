// How evidence fades with age: d = 2^(−age / half-life). Half-lives are measured by feed and class
// of network (bench/detection/calibration/half-life.ts); where nothing was measured, the kind's
// holds. Kinds whose feeds state a standing fact (a hoster's, bot's or relay's ranges) do not fade.

import type { HalfLives } from '../../model/evidence.ts'
import type { Kind } from '../../model/kind.ts'

/** Evidence of a kind that fades is dropped when it is older than this … */
export const daysKeptMax = 90
/** … unless its feed's measured half-life is longer: then after three of them. */
const tailHalfLives = 3

/** Days after which evidence with this half-life is dropped. */
function daysKept(halfLife: number): number {
  return halfLife > daysKeptMax ? Math.round(halfLife * tailHalfLives) : daysKeptMax
}

/** Classes of networks by how long an address stays the same customer's. */
export const turnovers = ['lines', 'shared', 'elsewhere'] as const
export type Turnover = (typeof turnovers)[number]

/** Days in which evidence loses half of its strength; `undefined` where it never does. */
export const halfLifeDays: Readonly<Record<Kind, Readonly<Record<Turnover, number>> | undefined>> =
  {
    tor: everywhere(1),
    residential_proxy: { lines: 21, shared: 3, elsewhere: 15 },
    proxy: everywhere(15),
    blocklist: everywhere(14),
    vpn: everywhere(30),
    hosting: undefined,
    bot: undefined,
    relay: undefined,
  }

function everywhere(days: number): Readonly<Record<Turnover, number>> {
  return { lines: days, shared: days, elsewhere: days }
}

/**
 * Many Tor exits come back: of those away for 5, 14 and 28 days 31, 13 and 5 percent are exits again
 * within two weeks. So from day 3 on, where no Tor list alone makes the signal any more, what is
 * left halves every 9 days: points, no signal.
 */
const torTrace = { from: 3, halfLife: 9 }

function torDecay(age: number): number {
  const { from, halfLife } = torTrace
  return age > daysKeptMax ? 0 : 2 ** -(Math.min(age, from) + Math.max(0, age - from) / halfLife)
}

/** The longest that evidence of a feed counts, whatever the network. `measured`: its half-lives. */
export function longestKept(kind: Kind, measured?: HalfLives): number {
  const byKind = halfLifeDays[kind]
  if (byKind === undefined) return daysKeptMax
  return Math.max(
    ...turnovers.map((turnover) => daysKept(measured?.[turnover] ?? byKind[turnover])),
  )
}

// By half-life, then by age in days: a build asks millions of times for a few hundred values.
const decayTables = new Map<number, Float64Array>()

function decayTable(halfLife: number): Float64Array {
  const known = decayTables.get(halfLife)
  if (known !== undefined) return known
  const table = new Float64Array(daysKept(halfLife) + 1).map((_, age) => 2 ** (-age / halfLife))
  decayTables.set(halfLife, table)
  return table
}

/**
 * What is left of evidence of `kind` after `ageDays` (whole days; below 0 counts as 0): above 0 to
 * 1, or exactly 0 where it is dropped. `measured`: the feed's own half-lives.
 */
export function decayOf(
  kind: Kind,
  ageDays: number,
  at: { readonly turnover: Turnover; readonly measured: HalfLives | undefined },
): number {
  const byKind = halfLifeDays[kind]
  if (byKind === undefined || ageDays <= 0) return 1
  if (kind === 'tor') return torDecay(ageDays)
  return decayTable(at.measured?.[at.turnover] ?? byKind[at.turnover])[ageDays] ?? 0
}

/** The same where it fades slowest, whatever the network. */
export function slowestDecay(kind: Kind, ageDays: number, measured?: HalfLives): number {
  return Math.max(...turnovers.map((turnover) => decayOf(kind, ageDays, { turnover, measured })))
}
