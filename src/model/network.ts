// A network: the origin AS of an address and what kind of network that is.

import type { NetworkType } from './kind.ts'

/**
 * What the model knows of a network beyond its wire form. All facts of the AS or of a hand-kept
 * prefix, none of a single address.
 */
export interface Network {
  /** The number of the origin AS; 0 never occurs (no network is `undefined`). */
  readonly asn: number
  readonly organization: string
  readonly type: NetworkType
  /** By the hand-kept table of mobile-only ASes and prefixes alone (MODEL.md, rule 9). */
  readonly mobile: boolean
  /** People's own lines: access networks of any technology. */
  readonly access: boolean
  /** Many people behind one address: mobile carriers, carrier NAT, satellite, campus. */
  readonly shared: boolean
  /** Known corporate egress (SASE): employees of other companies. */
  readonly corporate: boolean
  /** A content delivery network's edge. */
  readonly cdn: boolean
  /** The same address is announced in many places: public resolvers, by the hand-kept table. */
  readonly anycast: boolean
}
