// What well-known ASes are on the real feeds, and how much of the address space stays unknown.

import { expect, it } from 'vitest'
import {
  type AsSubject,
  classifyNetwork,
  groupCount,
  hostingLists,
} from '../../../build/networks/network-type.ts'
import type { AsFacts } from '../../../build/networks/as-facts.ts'
import { readNetworks } from '../../../build/networks/read-networks.ts'
import { loadNetworkTables } from '../../../build/networks/network-tables.ts'
import { describeFeeds } from '../../feeds.ts'
import { feedFacts } from './feed-facts.ts'
import { wellKnown } from './well-known.ts'

const tables = loadNetworkTables()

function subject(asn: number, facts: AsFacts, organization = ''): AsSubject {
  return { asn, organization, facts, tables }
}

describeFeeds('on the shared feeds', () => {
  const facts = feedFacts()

  for (const { asn, name, type, traits, hosters } of wellKnown) {
    it(`AS${asn} ${name} is ${type}`, () => {
      const network = classifyNetwork(subject(asn, facts, name))
      const set = (['mobile', 'access', 'shared', 'corporate', 'cdn'] as const).filter(
        (trait) => network[trait],
      )
      expect({ type: network.type, traits: set.join(' ') }).toEqual({ type, traits })
      // Evidence of hosting needs the table or two independent voices (rule 5).
      const voices = hostingLists(subject(asn, facts, name))
      expect(voices.includes('table-hosting') || groupCount(voices) >= 2).toBe(hosters)
    })
  }

  it('leaves little of the address space unknown, and none of the largest networks', async () => {
    const { networks, layers } = await readNetworks({ facts, tables })
    const { count, starts, values } = layers[4]
    const addresses = new Float64Array(networks.length + 1)
    for (let piece = 0; piece < count; piece++) {
      const end = piece + 1 < count ? starts[piece + 1]! : 2 ** 32
      addresses[values[piece]!] = addresses[values[piece]!]! + end - starts[piece]!
    }
    const announced = addresses.subarray(1).reduce((sum, some) => sum + some, 0)
    const shareOf = (type: string): number =>
      networks.reduce((sum, one, at) => sum + (one.type === type ? addresses[at + 1]! : 0), 0) /
      announced
    // Measured 2026-08-22: unknown 5.0 %, isp 55 %, hosting 7 %.
    expect(shareOf('unknown')).toBeLessThan(0.07)
    expect(shareOf('isp')).toBeGreaterThan(0.45)
    expect(shareOf('hosting')).toBeGreaterThan(0.05)
    expect(shareOf('hosting')).toBeLessThan(0.15)

    const largest = [...networks.keys()]
      .toSorted((a, b) => addresses[b + 1]! - addresses[a + 1]!)
      .slice(0, 300)
    const unknown = largest.filter((at) => networks[at]!.type === 'unknown')
    expect(unknown.length).toBeLessThanOrEqual(10)
  })
})
