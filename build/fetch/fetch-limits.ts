// Every limit of the fetching half, with its reason. Nothing here knows a feed: what one file may
// weigh at least and at most is in the catalogue (`bytes`).

import { fetchSecondsDefault } from '../../src/base/limits.ts'

export interface FetchLimits {
  /** Downloads at once over all hosts. */
  readonly concurrency: number
  /** Downloads at once from one publisher's host. */
  readonly perHost: number
  readonly connectMs: number
  /** From the request to the last header. */
  readonly headersMs: number
  /** The longest silence within a body. */
  readonly idleMs: number
  /** One attempt from its first connection to its last byte, redirects included. */
  readonly wholeMs: number
  /** Tries of one file before it is given up. */
  readonly attempts: number
  /** Tries where the host cannot even be reached. */
  readonly attemptsUnreachable: number
  /** The first wait before a retry; doubled for each further one, then shortened by chance. */
  readonly backoffMs: number
  readonly backoffMsMax: number
  /** The longest Retry-After that is waited for. */
  readonly retryAfterMsMax: number
  /** Unreachable hosts, with no answer from any, after which the network counts as dead. */
  readonly deadHosts: number
  /** Without one connection to any host by then the network counts as dead. */
  readonly reachMs: number
  /** One call of `obtain`; what is not there by then stays as it was stored. */
  readonly obtainMs: number
}

/** The limits of a run that may take so long: a twentieth of it must show that there is a network. */
export function limitsOfRun(seconds: number): Pick<FetchLimits, 'obtainMs' | 'reachMs'> {
  return { obtainMs: seconds * 1000, reachMs: seconds * 50 }
}

export const fetchLimits: FetchLimits = {
  // Two cores hash and inflate; more than eight streams only lengthen each other's time.
  concurrency: 8,
  // Most publishers serve these lists for nothing; two connections is what a polite client takes.
  perHost: 2,
  // A handshake across the world takes 0.5 s; a host that needs 10 s does not answer at all.
  connectMs: 10_000,
  // Some publishers generate the list on request.
  headersMs: 30_000,
  idleMs: 30_000,
  // The largest lists have some 10 MB: 35 kB/s is slow for anybody. The places' 71 MB need 240
  // kB/s; where they do not come in time, the edition that is there is used.
  wholeMs: 300_000,
  attempts: 3,
  // A name that does not resolve twice, or a port that is closed twice, stays so for this build.
  attemptsUnreachable: 2,
  backoffMs: 500,
  backoffMsMax: 8_000,
  // A build waits for no publisher longer than this; the stored copy serves until the next build.
  retryAfterMsMax: 20_000,
  // One or two hosts fail every day; four of them, and none that answers, is no network.
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
