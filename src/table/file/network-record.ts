// A network as the table's words, and back:
//
//   word 0  asn
//   word 1  organization (string)
//   word 2  traits: bits 0-3 type, 4 mobile, 5 access, 6 shared, 7 corporate, 8 cdn, 9 anycast
//   word 3  evidence list of the AS (0: none)
//
// Network ids start at 1; id n has its words at (n - 1) * networkWords.

import { type NetworkType, networkTypes } from '../../model/kind.ts'
import type { Network } from '../../model/network.ts'
import { networkWords } from '../../schema/table-layout.ts'
import type { Strings } from './string-section.ts'

export const packTraits = (network: Network): number =>
  networkTypes.indexOf(network.type) |
  (Number(network.mobile) << 4) |
  (Number(network.access) << 5) |
  (Number(network.shared) << 6) |
  (Number(network.corporate) << 7) |
  (Number(network.cdn) << 8) |
  (Number(network.anycast) << 9)

/** From the comma before it to the colon of `location`. */
export function networkJson(
  network: Pick<Network, 'asn' | 'organization' | 'type' | 'mobile'>,
): string {
  const { asn, organization, type, mobile } = network
  return `,"network":${JSON.stringify({ asn, organization, type, mobile })},"location":`
}

/** `id` must not be 0. */
export function readNetwork(words: Uint32Array, id: number, strings: Strings): Network {
  const at = (id - 1) * networkWords
  const traits = words[at + 2] ?? 0
  return {
    asn: words[at] ?? 0,
    organization: strings.text(words[at + 1] ?? 0),
    type: networkTypes[traits & 15] ?? ('unknown' satisfies NetworkType),
    mobile: (traits & 16) !== 0,
    access: (traits & 32) !== 0,
    shared: (traits & 64) !== 0,
    corporate: (traits & 128) !== 0,
    cdn: (traits & 256) !== 0,
    anycast: (traits & 512) !== 0,
  }
}

export const networkEvidenceList = (words: Uint32Array, id: number): number =>
  words[(id - 1) * networkWords + 3] ?? 0
