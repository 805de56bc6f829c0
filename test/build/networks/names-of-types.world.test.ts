// How often a name that calls its organization a hoster is a people's network's on the real feeds:
// the ground for taking it as a voice, alone or beside others.

import { expect, it } from 'vitest'
import { hostingLists, isHosterName } from '../../../build/networks/network-type.ts'
import { readNetworks } from '../../../build/networks/read-networks.ts'
import { loadNetworkTables } from '../../../build/networks/network-tables.ts'
import { describeFeeds } from '../../feeds.ts'
import { feedFacts } from './feed-facts.ts'

describeFeeds('names on the real feeds', () => {
  it('are rare among what is known as anything else, and never make people’s lines a hoster', async () => {
    const tables = loadNetworkTables()
    const facts = feedFacts()
    const { networks } = await readNetworks({ facts, tables })
    const seen = new Set<number>()
    const counts = new Map<string, { named: number; all: number }>()
    const add = (group: string, named: boolean): void => {
      const found = counts.get(group) ?? { named: 0, all: 0 }
      counts.set(group, found)
      found.all++
      if (named) found.named++
    }
    for (const { asn, organization, access } of networks) {
      if (seen.has(asn)) continue
      seen.add(asn)
      const named = isHosterName(organization)
      const table = tables.asRow(asn)?.table
      if (table !== undefined) add(table === 'hosting' ? 'hosters' : 'known as others', named)
      if (facts.get(asn)?.tags.has('dsl') === true) add('dsl', named)
      const voices = hostingLists({ asn, organization, facts, tables })
      if (voices.includes('network-names')) add('no lines', !access)
    }
    const share = (group: string): number => {
      const { named, all } = counts.get(group) ?? { named: 0, all: 0 }
      return named / all
    }
    process.stdout.write(`hoster names: ${JSON.stringify(Object.fromEntries(counts))}\n`)
    expect(share('known as others')).toBeLessThan(0.01)
    expect(share('dsl')).toBeLessThan(0.003)
    expect(share('hosters')).toBeGreaterThan(0.15)
    expect(counts.get('no lines')?.all).toBeGreaterThan(300)
    expect(share('no lines')).toBe(1)
  }, 60_000)
})
