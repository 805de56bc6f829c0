// Lists by third parties that name the hoster of each range, held against who announces it
// (MODEL.md, section 2): under the hoster's own name a part keeps it; with another hoster or CDN it
// is hosting without the name; with anybody else it is no hosting. On people's own lines, and where
// nobody announces it, it stays as it is. Who announces what is asked of the table under test.

import { readFileSync } from 'node:fs'
import type { Network } from '../../src/model/network.ts'
import type { Claim } from './evidence.ts'
import type { Claims } from './neighbours.ts'
import type { Announced } from './table.ts'

const namingLists = ['hosting-ipcat', 'hosting-jhassine']
const tables = ['access', 'business', 'cdn', 'corporate', 'education']
  .concat(['government', 'hosting', 'mobile', 'satellite'])
  .map((name) => readFileSync(new URL(`../../data/tables/${name}.csv`, import.meta.url), 'utf8'))

/** The name that a hand-kept table gives the AS. */
const tableNames = new Map(
  tables
    .flatMap((text) => text.split('\n'))
    .map((line) => line.split(','))
    .map(([asn = '', name = '']) => [Number(asn), name.toLowerCase()]),
)

export function withoutFormerOwners(claims: Claims, space: readonly Announced[]): Claims {
  return new Map(
    [...claims].map(([id, all]) => [id, namingLists.includes(id) ? held(all, space) : all]),
  )
}

/** These lists are of IPv4. */
function held(claims: readonly Claim[], space: readonly Announced[]): readonly Claim[] {
  const sorted = claims.toSorted((a, b) => Number(a.first) - Number(b.first))
  const kept: Claim[] = []
  let from = 0
  for (const claim of sorted) {
    const [first, last] = [Number(claim.first), Number(claim.last)]
    while (space[from]!.last < first) from++
    if (first === last) {
      kept.push(claim)
      continue
    }
    for (let at = from; at < space.length && space[at]!.first <= last; at++) {
      const part = space[at]!
      const said = heldAgainst(part.network, claim.said)
      if (said === undefined) continue
      kept.push({ first: Math.max(first, part.first), last: Math.min(last, part.last), said })
    }
  }
  return kept
}

/** `said`: feed, kind, match and lists, and behind them the name of the hoster. */
function heldAgainst(network: Network | undefined, said: string): string | undefined {
  const words = said.split(' ')
  const hoster = words.slice(4).join(' ')
  if (network === undefined || network.access || hoster === '') return said
  const names = `${network.organization} ${tableNames.get(network.asn) ?? ''}`
  if (plain(names).includes(plain(owner(hoster)))) return said
  if (network.type !== 'hosting' && network.type !== 'cdn') return undefined
  return `${words.slice(0, 4).join(' ')} `
}

/** The first word, of three letters or more: owners rename themselves. */
function owner(hoster: string): string {
  const word = /^[^ .]{3,}(?=[ .]|$)/.exec(hoster)
  return word?.[0] ?? hoster
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
}
