// Limits of fetching; each file's size limits are in the catalogue (`bytes`).

import { fetchSecondsDefault } from '../../src/base/limits.ts'

/**
 * After `obtainMs` the rest keeps its stored copies; after `reachMs` without a connection the
 * network counts as down.
 */
export function limitsOfRun(seconds: number) {
  return { obtainMs: seconds * 1000, reachMs: seconds * 50 }
}

export type FetchLimits = Readonly<typeof fetchLimits>

export const fetchLimits = {
  /** Downloads at once. Two cores hash and inflate; more than eight only slow each other. */
  concurrency: 8,
  /** Publishers serve these lists for free, so be polite. */
  perHost: 2,
  /** A handshake across the world takes 0.5 s. */
  connectMs: 10_000,
  /** Some publishers generate the list on request. */
  headersMs: 30_000,
  idleMs: 30_000,
  /**
   * One attempt with redirects. The largest lists have 10 MB, so 35 kB/s suffice; the locations' 71
   * MB need 240 kB/s, or else the present edition is used.
   */
  wholeMs: 300_000,
  attempts: 3,
  /** A name or port that fails twice will fail for the whole build. */
  attemptsUnreachable: 2,
  /** Doubled each time, then reduced at random. */
  backoffMs: 500,
  backoffMsMax: 8_000,
  /** The longest Retry-After honoured; beyond it the stored copy serves. */
  retryAfterMsMax: 20_000,
  /** Unreachable hosts, with no answer from any, after which the network counts as down. */
  deadHosts: 4,
  ...limitsOfRun(fetchSecondsDefault),
}

/** With 72 feeds it has 63 kB. */
export const MIRROR_INDEX_BYTES_MAX = 4 * 1024 * 1024

/** A page shows in its first bytes. */
export const SNIFF_BYTES = 512

/**
 * The transfer limit for `bytesMax` decoded bytes: compression can enlarge data a little, and a
 * stream of empty blocks would never end.
 */
export const wireBytesMax = (bytesMax: number): number => Math.ceil(bytesMax * 1.01) + 4096

/** A publisher is not requested again within this time, so repeated builds cost it nothing. */
export const recheckMs = (cadence: string): number =>
  cadence === 'hourly' ? 30 * 60_000 : 6 * 3_600_000
