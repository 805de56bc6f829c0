// What well-known ASes are without any feed, and the rules of precedence on made-up facts.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AsSubject,
  classifyNetwork,
  groupCount,
  hostingLists,
} from '../../../build/networks/network-type.ts'
import {
  type AsEntry,
  type AsFacts,
  asTags,
  collectAsFacts,
  noAsFacts,
  peeringClasses,
} from '../../../build/networks/as-facts.ts'
import { loadNetworkTables } from '../../../build/networks/network-tables.ts'
import { wellKnown } from './well-known.ts'

const tables = loadNetworkTables()

function subject(asn: number, facts: AsFacts, organization = ''): AsSubject {
  return { asn, organization, facts, tables }
}

/** An AS that no table names, with a class, tags, a PeeringDB class and lists. */
const nobody = 4_200_000_000

function factsOf(options: {
  readonly class?: string
  readonly tags?: readonly string[]
  readonly peering?: readonly string[]
  readonly lists?: readonly string[]
}): AsFacts {
  const entries: AsEntry[] = [
    { asn: nobody, source: 'asn-bgptools', label: options.class ?? 'Unknown' },
    ...(options.tags ?? []).map((label) => ({ asn: nobody, source: 'asn-bgptools-tags', label })),
    ...(options.peering ?? []).map((label) => ({
      asn: nobody,
      source: 'asn-peeringdb-classes',
      label,
    })),
    ...(options.lists ?? []).map((source) => ({ asn: nobody, source })),
  ]
  return collectAsFacts(entries)
}

const badLists = ['hosting-asn-badlist', 'hosting-asn-tn3w', 'hosting-asn-x4b']

const self = { tags: ['vpsh'], peering: ['hosting'] }
const smallIsps: readonly (readonly [string, AsFacts, string, boolean, string?])[] = [
  ['Content and a tag', factsOf(self), 'hosting', false, 'Example LLC'],
  ['the same, with eyeballs', factsOf({ ...self, class: 'Eyeball' }), 'isp', false, 'PT Linkgo'],
  [
    'the same, where users of a VPN are among them',
    factsOf({ ...self, tags: ['vpsh', 'vpn'], class: 'Eyeball' }),
    'isp',
    false,
    'PT Linkgo Metro Teknologi',
  ],
  [
    'eyeballs that may be users of Tor',
    factsOf({ ...self, tags: ['vpsh', 'tor'], class: 'Eyeball' }),
    'hosting',
    false,
    'SERVERD SAS',
  ],
  ...[
    'MEGA PROVEDOR - SERVICOS DE INTERNET LTDA',
    'SAGE NETWORKS SERVICOS DE TELECOMUNICACOES EIRELI',
    'PT. DEWATA TELEMATIKA',
  ].map((name) => [name, factsOf({ ...self, class: 'Content' }), 'isp', false, name] as const),
  [
    'an ISP whose name says that it hosts, too',
    factsOf({ ...self, class: 'Content' }),
    'hosting',
    false,
    'Markahost Telekomunikasyon Ve Ticaret Limited Sirketi',
  ],
  [
    'eyeballs where a list names it, too',
    factsOf({ ...self, class: 'Eyeball', lists: ['hosting-asn-x4b'] }),
    'hosting',
    false,
    'PT Linkgo Metro Teknologi',
  ],
]

describe('classify, rule by rule', () => {
  const cases: readonly (readonly [
    what: string,
    facts: AsFacts,
    type: string,
    access: boolean,
    organization?: string,
  ])[] = [
    ['nothing known', noAsFacts, 'unknown', false],
    ['dsl', factsOf({ tags: ['dsl'] }), 'isp', true],
    ['dsl and mobile', factsOf({ tags: ['dsl', 'mobile'] }), 'isp', true],
    [
      'dsl over transit',
      factsOf({ class: 'T1', tags: ['dsl'], peering: ['transit'] }),
      'isp',
      true,
    ],
    [
      'dsl over lists of hosters',
      factsOf({ tags: ['dsl', 'vpsh'], peering: ['hosting'], lists: badLists }),
      'isp',
      true,
    ],
    ['mobile', factsOf({ tags: ['mobile'] }), 'isp', true],
    ['a satellite tag', factsOf({ tags: ['satnet'] }), 'satellite', true],
    ['a university', factsOf({ class: 'Eyeball', tags: ['uni', 'tor'] }), 'education', false],
    ['a government', factsOf({ class: 'Eyeball', tags: ['gov'] }), 'government', false],
    ['both', factsOf({ tags: ['gov', 'uni'] }), 'education', false],
    ['one list', factsOf({ lists: ['hosting-asn-x4b'] }), 'hosting', false],
    ...smallIsps,
    ['three lists of one group', factsOf({ lists: badLists }), 'hosting', false],
    ['one list on a carrier', factsOf({ class: 'Carrier', lists: badLists }), 'isp', false],
    ['an eyeball', factsOf({ class: 'Eyeball' }), 'isp', true],
    ['an eyeball of VPN users', factsOf({ class: 'Eyeball', tags: ['vpn'] }), 'hosting', false],
    [
      'an eyeball that sells servers too',
      factsOf({ class: 'Eyeball', tags: ['vpsh'], peering: ['access'] }),
      'isp',
      true,
    ],
    [
      'a business carrier that sells servers too',
      factsOf({ class: 'Eyeball', tags: ['vpsh'], peering: ['network-service'] }),
      'isp',
      false,
    ],
    [
      'an eyeball that two voices call a hoster',
      factsOf({ class: 'Eyeball', tags: ['vpsh'], lists: badLists, peering: ['access'] }),
      'hosting',
      false,
    ],
    ['an access network by PeeringDB', factsOf({ peering: ['access'] }), 'isp', true],
    ['a hobby network', factsOf({ tags: ['perso'], peering: ['access'] }), 'unknown', false],
    ['a cdn tag', factsOf({ class: 'Content', tags: ['cdn'] }), 'cdn', false],
    ['a company', factsOf({ class: 'Eyeball', tags: ['corp'] }), 'business', false],
    ['content', factsOf({ class: 'Content' }), 'hosting', false],
    ['tags that say nothing', factsOf({ tags: ['tor', 'anycast', 'event'] }), 'unknown', false],
    ['a university by name', noAsFacts, 'education', false, 'University of Nowhere'],
    ['a ministry by name', noAsFacts, 'government', false, 'Ministry of Silly Walks'],
    ['a bank by name', noAsFacts, 'business', false, 'Nowhere Savings Bank'],
    ['an ISP by name', noAsFacts, 'isp', false, 'Nowhere Telecom LTDA'],
    ['an Eyeball bank', factsOf({ class: 'Eyeball' }), 'isp', true, 'Banks Cable Co.'],
  ]
  for (const [what, facts, type, access, organization] of cases) {
    it(`${what} is ${type}`, () => {
      expect(classifyNetwork(subject(nobody, facts, organization))).toMatchObject({ type, access })
    })
  }

  it('sets mobile, corporate and cdn by the tables alone, whatever the feeds say', () => {
    const some = <T>(values: readonly T[]): fc.Arbitrary<T[]> => fc.subarray([...values])
    const arbitrary = fc.record({
      class: fc.constantFrom('Eyeball', 'Content', 'Carrier', 'T1', 'Unknown'),
      tags: some(asTags),
      peering: some(peeringClasses),
      lists: some(badLists),
    })
    const names = fc.constantFrom('', 'Nowhere Cloud Hosting', 'Nowhere Telecom', 'Data Center Ltd')
    fc.assert(
      fc.property(arbitrary, names, (options, name) => {
        const one = subject(nobody, factsOf(options), name)
        const network = classifyNetwork(one)
        expect(network).toMatchObject({ mobile: false, corporate: false, cdn: false })
        // People's lines are never hosting, by type or by evidence.
        const hosted = network.type === 'hosting' || hostingLists(one).length > 0
        expect(network.access && hosted).toBe(false)
        expect(options.tags.includes('dsl') && network.type !== 'isp').toBe(false)
        expect(classifyNetwork(one)).toEqual(network)
      }),
    )
  })
})

describe('an AS that serves one VPN and nothing else', () => {
  const eyeballs = collectAsFacts([{ asn: 22363, source: 'asn-bgptools', label: 'Eyeball' }])

  it('is no access network, although users come out of it', () => {
    const network = classifyNetwork(subject(22363, eyeballs, 'Powerhouse Management, Inc.'))
    expect(network).toMatchObject({ type: 'hosting', access: false, rule: 'table-vpn-operators' })
  })

  it('is what it is by its facts where another owns the number', () => {
    const network = classifyNetwork(subject(22363, eyeballs, 'Nowhere Broadband'))
    expect(network).toMatchObject({ type: 'isp', access: true })
  })
})

describe('hostingLists', () => {
  it('names the table before the feeds', () => {
    expect(hostingLists(subject(16276, noAsFacts))).toEqual(['table-hosting'])
  })

  it('names each feed, tag and class', () => {
    const facts = factsOf({ tags: ['vpsh'], peering: ['hosting'], lists: badLists })
    const voices = hostingLists(subject(nobody, facts))
    expect(voices).toEqual(['asn-bgptools-tags', 'asn-peeringdb-classes', ...badLists])
    expect(groupCount(voices)).toBe(3)
  })

  it('takes the name beside another voice, and as one voice alone', () => {
    const name = 'Nowhere Cloud Hosting'
    const tagged = hostingLists(subject(nobody, factsOf({ tags: ['vpsh'] }), name))
    expect(tagged).toEqual(['asn-bgptools-tags', 'network-names'])
    expect(groupCount(tagged)).toBe(2)
    expect(hostingLists(subject(nobody, noAsFacts, name))).toEqual(['network-names'])
    const content = factsOf({ class: 'Content' })
    expect(hostingLists(subject(nobody, content, name))).toEqual(['network-names'])
    // What gave the type speaks where nothing else does: no network of the type is silent.
    expect(hostingLists(subject(nobody, content, 'Nowhere Ltd'))).toEqual(['asn-bgptools'])
    const vpns = factsOf({ tags: ['vpn'] })
    expect(hostingLists(subject(nobody, vpns, 'Nowhere Ltd'))).toEqual(['asn-bgptools-tags'])
    // The lists that may have been gathered by name are no second voice to it.
    const listed = hostingLists(subject(nobody, factsOf({ lists: badLists }), name))
    expect(listed).toContain('network-names')
    expect(groupCount(listed)).toBe(1)
    // What is named a carrier, a campus or somebody's lines stays that.
    for (const tags of [
      ['dsl', 'vpsh'],
      ['uni', 'vpsh'],
    ]) {
      expect(hostingLists(subject(nobody, factsOf({ tags }), name))).toEqual([])
    }
  })

  it('says nothing of what is something else', () => {
    expect(hostingLists(subject(nobody, factsOf({ tags: ['dsl'], lists: badLists })))).toEqual([])
    expect(hostingLists(subject(3, noAsFacts))).toEqual([])
    expect(hostingLists(subject(nobody, noAsFacts))).toEqual([])
  })
})

describe('well-known ASes without any feed', () => {
  for (const expected of wellKnown.filter((row) => row.offline)) {
    it(`AS${expected.asn} ${expected.name} is ${expected.type}`, () => {
      expect(classifyNetwork(subject(expected.asn, noAsFacts)).type).toBe(expected.type)
    })
  }
})
