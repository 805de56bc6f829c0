// Third parties that name the hoster of each range keep names long after ranges change hands. Each
// part is compared with its announcer (MODEL.md, section 2): the hoster's own stays; another
// hoster's or CDN's loses the name; anybody else's is dropped. The model itself ignores such lists
// on access networks.

import { memoise } from '../../src/base/memoise.ts'
import type { Family } from '../../src/ip/address.ts'
import type { Network } from '../../src/model/network.ts'
import type { Observation } from '../layer/flatten-evidence.ts'
import type { Layers } from '../layer/layer.ts'
import type { NetworkTables } from '../networks/network-tables.ts'
import { isOwnedBy } from '../networks/network-type.ts'
import type { EvidenceBook } from './evidence-book.ts'
import { piecesOf } from './operator-ranges.ts'

/** Changes `observations`; returns the number of dropped parts. */
export function dropFormerOwners(context: {
  readonly observations: Readonly<Record<Family, Observation[]>>
  readonly book: EvidenceBook
  readonly networks: { readonly networks: readonly Network[]; readonly layers: Layers }
  readonly tables: Pick<NetworkTables, 'asRow'>
}): number {
  const { observations, book, networks, tables } = context
  const isNamed = memoise((id: number): boolean => {
    const { kind, voice, provider, match } = book.at(id).evidence
    return kind === 'hosting' && voice.assurance === 'weak' && match === 'range' && provider !== ''
  })
  const isOwners = memoise((network: Network) => {
    const written = tables.asRow(network.asn)?.row.name ?? ''
    return memoise((name: string) => isOwnedBy(`${network.organization} ${written}`, name))
  })
  const unnamed = memoise((id: number): number => {
    const statement = book.at(id)
    return book.id({ ...statement, evidence: { ...statement.evidence, provider: '' } })
  })
  let dropped = 0
  for (const family of [4, 6] as const) {
    const all = observations[family]
    const named: Observation[] = []
    let kept = 0
    for (const one of all) {
      if (isNamed(one.evidence)) named.push(one)
      else all[kept++] = one
    }
    all.length = kept
    for (const { first, last, evidence: id } of named) {
      const name = wordOf(book.at(id).evidence.provider)
      for (const piece of piecesOf({ family, first, last }, networks)) {
        const { network } = piece
        const stays = network === undefined || network.access || isOwners(network)(name)
        const isHoster = network?.type === 'hosting' || network?.type === 'cdn'
        if (!stays && !isHoster) dropped++
        else all.push({ first: piece.first, last: piece.last, evidence: stays ? id : unnamed(id) })
      }
    }
  }
  return dropped
}

/** The part of a name that survives renaming: `kinx.net` is KINX, `Amazon AWS` Amazon. */
function wordOf(provider: string): string {
  const [word = ''] = provider.split(/[ .]/)
  return word.length >= 3 ? word : provider
}
