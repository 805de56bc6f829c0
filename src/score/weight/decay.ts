// How evidence fades with age: d = 2^(−age / half-life). Half-lives are measured by feed and class
// of network (bench/detection/calibration/half-life.ts); otherwise the kind's applies. Kinds of
// standing facts (ranges of hosters, bots and relays) do not fade.

import type { HalfLives } from '../../model/evidence.ts'
import type { Kind } from '../../model/kind.ts'

/** Fading evidence is dropped when it is older than this … */
export const daysKeptMax = 90
/** … unless its feed's measured half-life is longer: then after three of them. */
const tailHalfLives = 3

const daysKept = (halfLife: number): number =>
  halfLife > daysKeptMax ? Math.round(halfLife * tailHalfLives) : daysKeptMax

/** Classes of networks by how long a customer keeps an address. */
export const turnovers = ['lines', 'shared', 'elsewhere'] as const
export type Turnover = (typeof turnovers)[number]

/** `undefined` if evidence never fades. */
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
 * Many Tor exits return: of those absent for 5, 14 and 28 days, 31, 13 and 5 percent are exits
 * again within two weeks. From day 3, when a Tor list alone no longer makes the signal, the rest
 * halves every 9 days: points, no signal.
 */
const torTrace = { from: 3, halfLife: 9 }

function torDecay(age: number): number {
  const { from, halfLife } = torTrace
  return age > daysKeptMax ? 0 : 2 ** -(Math.min(age, from) + Math.max(0, age - from) / halfLife)
}

/** The longest time that a feed's evidence counts in any network. `measured`: its half-lives. */
export function longestKept(kind: Kind, measured?: HalfLives): number {
  const byKind = halfLifeDays[kind]
  if (byKind === undefined) return daysKeptMax
  return Math.max(
    ...turnovers.map((turnover) => daysKept(measured?.[turnover] ?? byKind[turnover])),
  )
}

// Keyed by half-life and age in days: a build needs a few hundred values millions of times.
const decayTables = new Map<number, Float64Array>()

function decayTable(halfLife: number): Float64Array {
  const known = decayTables.get(halfLife)
  if (known !== undefined) return known
  const table = new Float64Array(daysKept(halfLife) + 1).map((_, age) => 2 ** (-age / halfLife))
  decayTables.set(halfLife, table)
  return table
}

/**
 * The share left of evidence after `ageDays` (whole days; negative counts as 0), 0 if dropped.
 * `measured`: the feed's own half-lives.
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

/** The slowest decay in any network. */
export const slowestDecay = (kind: Kind, ageDays: number, measured?: HalfLives): number =>
  Math.max(...turnovers.map((turnover) => decayOf(kind, ageDays, { turnover, measured })))
