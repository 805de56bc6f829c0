// What a worker has counted of its answers since it was asked last, beside its counters: plain data
// for the primary. No address is in it.

import type { TopRow } from './top-sketch.ts'

/** What of an answer is counted by name. */
export const topKinds = ['networks', 'countries', 'providers'] as const
export type TopKind = (typeof topKinds)[number]

export interface TrafficCounts {
  /** Checks by tens of the score: 0–9, …, 90–100. */
  readonly scores: readonly number[]
  /** `policy/action` and how often. */
  readonly decisions: readonly (readonly [decision: string, count: number])[]
  readonly top: Readonly<Record<TopKind, readonly TopRow[]>>
}

export const scoreBands = 10
