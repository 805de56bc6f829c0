// Which names call an organization a hoster; and on the real feeds, how often such a name is a
// people's network's: the ground for taking it as a second voice.

import { describe, expect, it } from 'vitest'
import { hostingLists } from '../../../build/networks/network-type.ts'
import { isHosterName } from '../../../build/networks/name-hints.ts'
import { readNetworks } from '../../../build/networks/read-networks.ts'
import { loadNetworkTables } from '../../../build/networks/network-tables.ts'
import { describeFeeds } from '../../feeds.ts'
import { feedFacts } from './feed-facts.ts'

describe('isHosterName', () => {
  it.each([
    'Majestic Hosting Solutions, LLC',
    'Spartan Host Ltd',
    'EASYHOST SRL',
    'webhoster.de AG',
    'Beijing Kingsoft Cloud Internet Technology Co., Ltd',
    'LUCIDACLOUD LIMITED',
    'UAB Cherry Servers',
    'Comvive Servidores S.L.',
    'DirectVPS B.V.',
    'VDC Powerbase Hong Kong Data Centers Limited',
    'Vautron Rechenzentrum AG',
    'Rackhosting.com ApS',
    'Pfcloud UG (haftungsbeschrankt)',
  ])('%s', (name) => expect(isHosterName(name)).toBe(true))

  it.each([
    '',
    'Deutsche Telekom AG',
    'City of St. Cloud',
    'St Cloud Cable Co.',
    'The Dallas Observer',
    'McCloud Wireless',
    'VoiceHost Ltd',
    'Cloud Fiber Networks',
    'Ascenty Data Centers e Telecomunicacoes S/A',
    'Cloud State University',
    'Dataland Insurance Cloud',
    'Cloudy Skies Airlines',
    'Hostal Mar',
  ])('not %s', (name) => expect(isHosterName(name)).toBe(false))
})

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
      if (voices.includes('network-names')) add('second voice', !access && voices.length > 1)
    }
    const share = (group: string): number => {
      const { named, all } = counts.get(group) ?? { named: 0, all: 0 }
      return named / all
    }
    process.stdout.write(`hoster names: ${JSON.stringify(Object.fromEntries(counts))}\n`)
    expect(share('known as others')).toBeLessThan(0.01)
    expect(share('dsl')).toBeLessThan(0.003)
    expect(share('hosters')).toBeGreaterThan(0.15)
    expect(counts.get('second voice')?.all).toBeGreaterThan(300)
    expect(share('second voice')).toBe(1)
  }, 60_000)
})
