// The addresses beside one: the 256 of an IPv4 address's /24; of an IPv6 address the 256 /64s of its
// /56, each by its first address, its own by the address itself.

import { newAddressWords } from '../../ip/address.ts'
import { formatAddress, formatIpv4 } from '../../ip/format-address.ts'
import type { Located } from '../../table/lookup/locate.ts'
import type { OpenTable } from '../../table/open-table.ts'
import type { AddressView } from '../../api/admin-answers.ts'

type Neighbours = AddressView['neighbours']
type Cell = Neighbours['cells'][number]

const size = 256

export function neighbourCells(
  table: OpenTable,
  words: Uint32Array,
  { version, ipv4 }: Pick<Located, 'version' | 'ipv4'>,
): Neighbours {
  const cellOf = (ip: string): Cell => {
    const { classification = 'clean', risk_score = 0 } = table.check(ip) ?? {}
    return { ip, classification, risk_score }
  }
  if (version === 4) {
    const first = Math.floor(ipv4 / size) * size
    const cells = Array.from({ length: size }, (_, at) => cellOf(formatIpv4(first + at)))
    return { prefix: `${formatIpv4(first)}/24`, cells }
  }
  const line = newAddressWords()
  line[0] = words[0]!
  const site = (words[1]! & 0xffff_ff00) >>> 0
  const cells = Array.from({ length: size }, (_, at) => {
    line[1] = site + at
    return cellOf(formatAddress(6, line[1] === words[1] ? words : line))
  })
  line[1] = site
  return { prefix: `${formatAddress(6, line)}/56`, cells }
}
