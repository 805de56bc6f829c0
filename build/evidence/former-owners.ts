// Third parties that name the hoster of each range keep names long after others hold the range. Each
// part of one is held against who announces it (MODEL.md, section 2): under the hoster's own name it
// stays; of another hoster or CDN it is hosting without the name; of anybody else it is dropped. On
// people's own lines no such list counts, which the model says itself.

import { memoise } from '../../src/base/memoise.ts'
import type { Family } from '../../src/ip/address.ts'
import type { Network } from '../../src/model/network.ts'
import type { Observation } from '../layer/flatten-evidence.ts'
import type { Layers } from '../layer/layer.ts'
import type { NetworkTables } from '../networks/network-tables.ts'
import { isOwnedBy } from '../networks/network-type.ts'
import type { EvidenceBook } from './evidence-book.ts'
import { piecesOf } from './operator-ranges.ts'

/** Changes `observations`; gives how many parts of ranges were dropped. */
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

/** What of a name stays when its owner renames itself: `kinx.net` is KINX, `Amazon AWS` Amazon. */
function wordOf(provider: string): string {
  const [word = ''] = provider.split(/[ .]/)
  return word.length >= 3 ? word : provider
}
