// What an operator's own lists say about an address: the interface of open-lists.ts.

import type { ListEffect } from '../model/kind.ts'

export interface ListMatch {
  /** Sorted, each once. */
  readonly names: readonly string[]
  /** Decided by the most specific entry of a list with an effect. */
  readonly effect: ListEffect
}

export interface ListMatcher {
  readonly version: number
  /** Otherwise no AS number is needed. */
  readonly hasSystems: boolean
  /** Where coverage may change, ascending; IPv6 has four words a start. */
  readonly starts: (family: 4 | 6) => Uint32Array
  /** When the next entry expires, milliseconds since the epoch; `Infinity` for never. */
  readonly nextExpiryMs: (nowMs: number) => number
  /**
   * Hot: no allocation and no clock, so expired entries count, too. `ipv4` is the IPv4 address
   * judged, alone (`family` 4) or beside the IPv6 one in `words`; -1 without one. `asn` 0 is none.
   */
  readonly covers: (family: 4 | 6, words: Uint32Array, ipv4: number, asn: number) => boolean
  /** Hot: a number for the adjacent addresses that the same entries cover. */
  readonly pieceOf: (family: 4 | 6, words: Uint32Array) => number
  /** Not hot; without entries expired at `nowMs`. */
  readonly match: (asked: {
    readonly family: 4 | 6
    readonly words: Uint32Array
    readonly ipv4: number
    readonly asn: number
    readonly nowMs: number
  }) => ListMatch | undefined
}
