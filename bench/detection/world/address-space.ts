// Whose addresses a score hits: sums of sizes, never samples. Shares are of addresses in IPv4 and
// of /64s (a customer's line) in IPv6.

import type { Family } from '../../../src/ip/address.ts'
import type { Network } from '../../../src/model/network.ts'
import { sizeOf64 } from './address-count.ts'

/** Scores that operators act on: from here on they challenge, from there on they block. */
export const askScoreMin = 25
export const blockScoreMin = 50

export interface SpaceShare {
  /** IPv4 addresses, or IPv6 /64s. */
  readonly total: number
  readonly fromAsk: number
  readonly fromBlock: number
}

export type AccessSpace = Readonly<Record<Family, SpaceShare>>

/** Pieces or cells: so many addresses with one network and one score. */
export interface ScoredPiece {
  readonly family: Family
  readonly size: number
  readonly network: Network | undefined
  readonly score: number
}

/** Of the space of people's own lines the part that is hit: each of it is a false alarm. */
export function accessSpace(pieces: Iterable<ScoredPiece>): AccessSpace {
  const sums = {
    4: { total: 0, fromAsk: 0, fromBlock: 0 },
    6: { total: 0, fromAsk: 0, fromBlock: 0 },
  }
  for (const { family, size, network, score } of pieces) {
    if (network?.access !== true) continue
    const sum = sums[family]
    const amount = family === 4 ? size : size / sizeOf64
    sum.total += amount
    if (score >= askScoreMin) sum.fromAsk += amount
    if (score >= blockScoreMin) sum.fromBlock += amount
  }
  return sums
}
