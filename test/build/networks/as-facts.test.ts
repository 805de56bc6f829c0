// Gathering AS facts from feed entries.

import { describe, expect, it } from 'vitest'
import { collectAsFacts, noAsFacts } from '../../../build/networks/as-facts.ts'
import { groupCount, hostingGroup, hostingVoices } from '../../../build/networks/network-type.ts'

describe('collectFacts', () => {
  it('gathers class, tags, PeeringDB class, lists and name by ASN', () => {
    const facts = collectAsFacts([
      { asn: 7, source: 'asn-bgptools-tags', label: 'dsl', name: 'A longer name of the tag file' },
      { asn: 7, source: 'asn-bgptools', label: 'Eyeball', name: '"Seven", LLC' },
      { asn: 7, source: 'asn-bgptools-tags', label: 'mobile' },
      { asn: 7, source: 'asn-peeringdb-classes', label: 'access' },
      { asn: 7, source: 'hosting-asn-x4b', name: 'SEVEN, RO' },
      { asn: 7, source: 'hosting-asn-badlist' },
      { asn: 7, source: 'hosting-asn-badlist' },
    ])
    expect(facts.get(7)).toEqual({
      class: 'Eyeball',
      tags: new Set(['dsl', 'mobile']),
      peering: new Set(['access']),
      lists: ['hosting-asn-badlist', 'hosting-asn-x4b'],
      name: 'Seven, LLC',
    })
    expect(facts.get(8)).toBeUndefined()
    expect(facts.asnCount).toBe(1)
  })

  it('does not depend on the order of entries', () => {
    const entries = [
      { asn: 7, source: 'asn-bgptools', label: 'Content', name: 'Seven' },
      { asn: 7, source: 'asn-bgptools-tags', label: 'cdn', name: 'Seven and more' },
      { asn: 7, source: 'hosting-asn-x4b' },
      { asn: 7, source: 'hosting-asn-badlist' },
    ]
    const forward = collectAsFacts(entries).get(7)
    expect(collectAsFacts(entries.toReversed()).get(7)).toEqual(forward)
  })

  it('counts labels that it does not know, and takes nothing from them', () => {
    const facts = collectAsFacts([
      { asn: 7, source: 'asn-bgptools', label: 'Nonsense' },
      { asn: 7, source: 'asn-bgptools-tags', label: 'new-tag' },
      { asn: 8, source: 'asn-bgptools-tags', label: 'new-tag' },
    ])
    expect([...facts.unknownLabels]).toEqual([
      ['asn-bgptools: Nonsense', 1],
      ['asn-bgptools-tags: new-tag', 2],
    ])
    expect(facts.get(7)).toMatchObject({ class: 'Unknown', tags: new Set() })
  })

  it('does not take a list of VPN ASes for one of hosters', () => {
    const facts = collectAsFacts([{ asn: 7, source: 'hosting-asn-x4b', label: 'vpn' }])
    expect(hostingVoices(facts.get(7))).toEqual([])
  })

  it('takes the category hosting of ipverse as one voice, and no other category', () => {
    const source = 'asn-ipverse-metadata'
    const facts = collectAsFacts([
      { asn: 7, source, label: 'hosting' },
      { asn: 8, source, label: 'isp' },
      { asn: 9, source },
      { asn: 9, source, label: 'new' },
    ])
    expect([7, 8, 9].map((asn) => hostingVoices(facts.get(asn)))).toEqual([[source], [], []])
    expect([...facts.unknownLabels]).toEqual([[`${source}: new`, 1]])
  })

  it('knows nothing without entries', () => {
    expect(noAsFacts.get(7)).toBeUndefined()
    expect(hostingVoices(undefined)).toEqual([])
  })
})

describe('hosting voices', () => {
  it('count lists that republish each other as one', () => {
    const facts = collectAsFacts([
      { asn: 7, source: 'hosting-asn-x4b' },
      { asn: 7, source: 'hosting-asn-badlist' },
      { asn: 7, source: 'hosting-asn-tn3w' },
      { asn: 8, source: 'hosting-asn-x4b' },
      { asn: 8, source: 'asn-bgptools-tags', label: 'vpsh' },
      { asn: 8, source: 'asn-peeringdb-classes', label: 'hosting' },
    ])
    const seven = hostingVoices(facts.get(7))
    expect(seven).toEqual(['hosting-asn-badlist', 'hosting-asn-tn3w', 'hosting-asn-x4b'])
    expect(groupCount(seven)).toBe(1)
    expect(groupCount(hostingVoices(facts.get(8)))).toBe(3)
    expect(hostingGroup('table-hosting')).toBe('table-hosting')
  })
})
