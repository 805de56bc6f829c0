// What an operator's own lists say of an address: the interface that answers are made with. What
// keeps and compiles lists is beside it; open-lists.ts makes a matcher of a compiled file.

import type { ListEffect } from '../model/kind.ts'

export interface ListMatch {
  /** The names of all lists that match, sorted, each once. */
  readonly names: readonly string[]
  /** That of the most specific entry of a list with an effect. */
  readonly effect: ListEffect
}

export interface ListMatcher {
  /** Rises with each change of the lists. */
  readonly version: number
  /** Whether an entry names an AS; without one nobody need know which an address has. */
  readonly hasSystems: boolean
  /**
   * Hot: no allocation. Whether an entry covers the address; one that has expired counts, too, so
   * that no clock is read. `ipv4` is the IPv4 address that is judged, alone (`family` 4; `words`
   * then say nothing) or beside the IPv6 one in `words`; -1 where there is none. `asn` 0 is none.
   */
  readonly covers: (family: 4 | 6, words: Uint32Array, ipv4: number, asn: number) => boolean
  /** Not hot: the same address, by the entries that have not expired at `nowMs`. */
  readonly match: (asked: {
    readonly family: 4 | 6
    readonly words: Uint32Array
    readonly ipv4: number
    readonly asn: number
    /** Milliseconds since the epoch. */
    readonly nowMs: number
  }) => ListMatch | undefined
}
