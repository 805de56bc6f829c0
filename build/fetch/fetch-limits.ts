// Every limit of fetching, with its reason. The size limits of each file are in the catalogue
// (`bytes`).

import { fetchSecondsDefault } from '../../src/base/limits.ts'

/**
 * The limits of a run. What has not arrived after `obtainMs` keeps its stored copy; without one
 * connection after `reachMs` the network counts as down.
 */
export function limitsOfRun(seconds: number) {
  return { obtainMs: seconds * 1000, reachMs: seconds * 50 }
}

export type FetchLimits = Readonly<typeof fetchLimits>

export const fetchLimits = {
  /**
   * Downloads at once over all hosts. Two cores hash and inflate; more than eight streams only slow
   * each other down.
   */
  concurrency: 8,
  /** Per host. Most publishers serve these lists for free; a polite client uses two connections. */
  perHost: 2,
  /** A handshake across the world takes 0.5 s; a host that needs 10 s does not answer at all. */
  connectMs: 10_000,
  /** From the request to the last header. Some publishers generate the list on request. */
  headersMs: 30_000,
  idleMs: 30_000,
  /**
   * One attempt from its first connection to its last byte, redirects included. The largest lists
   * have some 10 MB, so 35 kB/s suffice. The locations' 71 MB need 240 kB/s; if they are late, the
   * present edition is used.
   */
  wholeMs: 300_000,
  /** Attempts for one file. */
  attempts: 3,
  /**
   * A name that fails to resolve twice, or a port that is closed twice, stays so for this build.
   */
  attemptsUnreachable: 2,
  /** The first wait before a retry; doubled each time, then reduced at random. */
  backoffMs: 500,
  backoffMsMax: 8_000,
  /**
   * The longest Retry-After that is honoured; beyond it the stored copy serves until the next
   * build.
   */
  retryAfterMsMax: 20_000,
  /**
   * Unreachable hosts, without an answer from any, after which the network counts as down. One or
   * two fail on an ordinary day.
   */
  deadHosts: 4,
  ...limitsOfRun(fetchSecondsDefault),
}

/** A mirror's feeds.json; with 72 feeds it has 63 kB. */
export const MIRROR_INDEX_BYTES_MAX = 4 * 1024 * 1024

/** An HTML page shows in its first bytes, after a byte order mark and white space. */
export const SNIFF_BYTES = 512

/**
 * The transfer limit for a file of `bytesMax` decoded bytes. Compression can enlarge incompressible
 * data a little; without this limit a stream of empty blocks would never end.
 */
export function wireBytesMax(bytesMax: number): number {
  return Math.ceil(bytesMax * 1.01) + 4096
}

/**
 * A publisher is not requested again within this time on the same day, so builds repeated by hand
 * cost it nothing. Cadences other than hourly change at most daily.
 */
export function recheckMs(cadence: string): number {
  return cadence === 'hourly' ? 30 * 60_000 : 6 * 3_600_000
}
