// Every limit of the fetching half, with its reason. Nothing here knows a feed: what one file may
// weigh at least and at most is in the catalogue (`bytes`).

import { fetchSecondsDefault } from '../../src/base/limits.ts'

/**
 * The limits of a run that may take so long. What is not there after `obtainMs` stays as it was
 * stored; without one connection to any host after `reachMs` the network counts as dead.
 */
export function limitsOfRun(seconds: number) {
  return { obtainMs: seconds * 1000, reachMs: seconds * 50 }
}

export type FetchLimits = Readonly<typeof fetchLimits>

export const fetchLimits = {
  /**
   * Downloads at once over all hosts. Two cores hash and inflate; more than eight streams only
   * lengthen each other's time.
   */
  concurrency: 8,
  /** From one publisher's host. Most serve these lists for nothing; a polite client takes two. */
  perHost: 2,
  /** A handshake across the world takes 0.5 s; a host that needs 10 s does not answer at all. */
  connectMs: 10_000,
  /** From the request to the last header. Some publishers generate the list on request. */
  headersMs: 30_000,
  idleMs: 30_000,
  /**
   * One attempt from its first connection to its last byte, redirects included. The largest lists
   * have some 10 MB: 35 kB/s is slow for anybody. The places' 71 MB need 240 kB/s; where they do
   * not come in time, the edition that is there is used.
   */
  wholeMs: 300_000,
  /** Tries of one file before it is given up. */
  attempts: 3,
  /** A name that does not resolve twice, or a port that is closed twice, stays so for this build. */
  attemptsUnreachable: 2,
  /** The first wait before a retry; doubled for each further one, then shortened by chance. */
  backoffMs: 500,
  backoffMsMax: 8_000,
  /** The longest Retry-After that is waited for; the stored copy serves until the next build. */
  retryAfterMsMax: 20_000,
  /**
   * Unreachable hosts, with no answer from any, after which the network counts as dead. One or two
   * fail on an ordinary day.
   */
  deadHosts: 4,
  ...limitsOfRun(fetchSecondsDefault),
}

/** A mirror's feeds.json; that of 72 feeds has 63 kB. */
export const MIRROR_INDEX_BYTES_MAX = 4 * 1024 * 1024

/** An HTML page shows itself in its first bytes, behind a byte-order mark and white space. */
export const SNIFF_BYTES = 512

/**
 * What may cross the wire for a file of `bytesMax` decoded bytes. Compression can add a little to
 * what does not compress; without this limit a stream of empty blocks would never end.
 */
export function wireBytesMax(bytesMax: number): number {
  return Math.ceil(bytesMax * 1.01) + 4096
}

/**
 * A publisher is not asked again within this time on the same day: builds repeated by hand cost the
 * publishers nothing. Cadences that are not hourly change at most daily; six hours still catches
 * it.
 */
export function recheckMs(cadence: string): number {
  return cadence === 'hourly' ? 30 * 60_000 : 6 * 3_600_000
}
