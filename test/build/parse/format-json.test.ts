// The JSON format: what the options mean, with the shapes of the real feeds in small.

import { describe, expect, it } from 'vitest'
import { parseText, textsOf } from './drive.ts'

describe('shapes of feeds', () => {
  it.each([
    [
      'Azure service tags',
      { entries: ['/values/*/properties/addressPrefixes/*'] },
      {
        values: [{ name: 'A', properties: { addressPrefixes: ['192.0.2.0/24', '2001:db8::/32'] } }],
      },
      ['192.0.2.0/24', '2001:db8::/32'],
    ],
    [
      'Proton: the exit is evidence, the entry is not',
      { entries: ['/LogicalServers/*/Servers/*/ExitIP'] },
      { LogicalServers: [{ Servers: [{ EntryIP: '192.0.2.1', ExitIP: '192.0.2.2' }] }] },
      ['192.0.2.2'],
    ],
    [
      'monosans: the exit is evidence, the host is not',
      { entries: ['/*/exit_ip'] },
      [{ host: '192.0.2.1', port: 80, exit_ip: '198.51.100.1', asn: { exit_ip: '192.0.2.9' } }],
      ['198.51.100.1'],
    ],
    [
      'Windscribe: groups without nodes, nodes with fewer addresses',
      {
        entries: [
          '/data/*/groups/*/ping_ip',
          '/data/*/groups/*/nodes/*/ip',
          '/data/*/groups/*/nodes/*/ip2',
        ],
      },
      {
        data: [
          {
            groups: [
              { ping_ip: '192.0.2.1' },
              { ping_ip: '192.0.2.2', nodes: [{ ip: '192.0.2.3' }] },
            ],
          },
        ],
      },
      ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
    ],
    [
      'cloud-ips',
      { entries: ['/IPv4Prefixes/*', '/IPv6Prefixes/*'] },
      { IPv4Prefixes: ['192.0.2.0/24'], IPv6Prefixes: null },
      ['192.0.2.0/24'],
    ],
  ])('%s', async (_, options, value, texts) => {
    expect(textsOf(await parseText('json', JSON.stringify(value), options))).toEqual(texts)
  })
})

describe('services', () => {
  const services = {
    'Google (special)': { provider: 'Google', category: 'search_crawler' },
    Watchdog: { provider: 'Dog', category: 'other' },
  }

  it('give provider and category; other is neither crawler nor AI tool', async () => {
    const text =
      '{"services":{"Google (special)":{"ipv4":["192.0.2.1"]},"Watchdog":{"ipv4":["192.0.2.2"]}}}'
    const said = await parseText('json', text, {
      entries: ['/services/{service}/ipv4/*'],
      services,
    })
    expect(said.entries).toStrictEqual([
      {
        text: '192.0.2.1',
        place: '/services/Google (special)/ipv4/0',
        provider: 'Google',
        category: 'search_crawler',
      },
      { text: '192.0.2.2', place: '/services/Watchdog/ipv4/0', provider: 'Dog' },
    ])
  })

  it.each([
    [{ entries: ['/a/{service}/*'] }, /"services" must be given/],
    [{ entries: ['/a/*'], services }, /"services" must be given/],
    [
      { entries: ['/{service}'], services: { A: { provider: 'A' } } },
      /"services" must be an object/,
    ],
    [{ entries: ['/{service}'], services: { A: { provider: 'A', category: 'x' } } }, /of category/],
    [{ entries: ['a/*'] }, /paths that begin with/],
    [{ entries: '/a' }, /"entries" must be a list of strings/],
    [{}, /"entries" must be given/],
    [{ entries: ['/a'], asn: 'yes' }, /"asn" must be true or false/],
  ])('are checked: %j', async (options, message) => {
    await expect(parseText('json', '{}', options)).rejects.toThrow(message)
  })
})

it('a long name is in the places of what stands below it by its beginning alone', async () => {
  const name = 'x'.repeat(1_000_000)
  const addresses = Array.from({ length: 1000 }, (_, i) => `198.51.${i >> 8}.${i & 255}`)
  const text = JSON.stringify({ [name]: [...addresses, 7] })
  const said = await parseText('json', text, { entries: ['/*/*'] })
  expect(textsOf(said)).toEqual(addresses)
  expect(said.entries[9]?.place).toBe(`/${'x'.repeat(80)}…/9`)
  expect(said.drops).toMatchObject([{ place: `/${'x'.repeat(80)}…/1000` }])
})

it('a JSON text that holds none of the places is not this format', async () => {
  const answer = parseText('json', '{"message":"Not Found"}', { entries: ['/prefixes/*'] })
  await expect(answer).rejects.toMatchObject({ code: 'not_this_format' })
})

it('a stated day that is none is left out', async () => {
  const said = await parseText('json', '{"day":"soon","p":["192.0.2.1"]}', {
    entries: ['/p/*'],
    day: '/day',
  })
  expect(said.days).toEqual([])
})

it('a label that is a path is that of the same record, where there is one', async () => {
  const records = [
    { asn: 64496, metadata: { category: 'hosting' }, lastAnnounced: null },
    { asn: 64497, metadata: { category: null } },
    { asn: 64498 },
    { asn: 64499, metadata: { category: 'isp' } },
  ]
  const options = { entries: ['/*/asn'], asn: true, label: '/*/metadata/category' }
  const { entries } = await parseText('json', JSON.stringify(records), options)
  expect(entries.map(({ text, label = '' }) => `${text} ${label}`)).toEqual([
    'AS64496 hosting',
    'AS64497 ',
    'AS64498 ',
    'AS64499 isp',
  ])
})
