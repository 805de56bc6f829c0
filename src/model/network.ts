// A network: the origin AS of an address and its kind.

import type { NetworkType } from './kind.ts'

/**
 * Facts of the AS or a hand-kept prefix, including some without a wire form; none of a single
 * address.
 */
export interface Network {
  /** Never 0: no network is `undefined`. */
  readonly asn: number
  readonly organization: string
  readonly type: NetworkType
  /** Only by the hand-kept table of mobile-only ASes and prefixes (MODEL.md, rule 9). */
  readonly mobile: boolean
  /** People's own lines: access networks of any technology. */
  readonly access: boolean
  /** Many people behind one address: mobile carriers, carrier NAT, satellite, campus. */
  readonly shared: boolean
  /** Known corporate egress (SASE): employees of other companies. */
  readonly corporate: boolean
  readonly cdn: boolean
  /** An address announced in many places: public resolvers, by the hand-kept table. */
  readonly anycast: boolean
}

export type NetworkTraits = Omit<Network, 'asn' | 'organization'>

export const noTraits: NetworkTraits = {
  type: 'unknown',
  mobile: false,
  access: false,
  shared: false,
  corporate: false,
  cdn: false,
  anycast: false,
}
