// Whose address a request is judged by, case by case. What an attacker may write stands to the left
// in every header: no row's answer may come from there.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type AddressOptions,
  type AddressedRequest,
  clientAddress,
  lacksAddressSource,
} from '../../../src/client/address/client-address.ts'
import { proxyPresets } from '../../../src/client/address/proxy-presets.ts'
import type { Trust } from '../../../src/client/address/trusted-proxies.ts'
import { packageRoot } from '../../../src/base/package-root.ts'

const client = '203.0.113.7'
const forged = '198.51.100.9'
const proxy = '10.0.0.1'

type Row = readonly [
  claim: string,
  peer: string | undefined,
  headers: Readonly<Record<string, string>>,
  options: AddressOptions,
  expected: string | undefined,
]

const xff = (value: string) => ({ 'x-forwarded-for': value })
const forwarded = (value: string) => ({ forwarded: value })
const byForwarded: AddressOptions = { trust: 'private', header: 'forwarded' }

const rows: readonly Row[] = [
  // The peer.
  ['no proxy', client, {}, {}, client],
  ['no proxy, a header of its own', client, xff(forged), {}, client],
  ['a socket for both families', `::ffff:${client}`, {}, {}, client],
  ['a zone', 'fe80::1%eth0', {}, {}, 'fe80::1'],
  ['a Unix socket', undefined, {}, {}, undefined],
  ['a Unix socket and a header of its own', undefined, xff(forged), {}, undefined],

  // Hops.
  ['one proxy', proxy, xff(client), { trust: 1 }, client],
  ['one proxy, a header of its own', proxy, xff(`${forged}, ${client}`), { trust: 1 }, client],
  ['two proxies', proxy, xff(`${forged}, ${client}, 10.0.0.2`), { trust: 2 }, client],
  ['more hops than there are', proxy, xff(client), { trust: 5 }, client],
  ['a hop without its header', proxy, {}, { trust: 1 }, proxy],
  [
    'one proxy whose socket has no address',
    undefined,
    xff(`${forged}, ${client}`),
    { trust: 1 },
    client,
  ],
  ['no hop', proxy, xff(forged), { trust: 0 }, proxy],

  // Prefixes.
  ['a trusted peer', proxy, xff(client), { trust: 'private' }, client],
  ['a peer that is not trusted', '203.0.113.1', xff(forged), { trust: 'private' }, '203.0.113.1'],
  [
    'two trusted ones',
    proxy,
    xff(`${forged}, ${client}, 10.0.0.2`),
    { trust: ['10.0.0.0/8'] },
    client,
  ],
  [
    'a trusted one that is named by none',
    proxy,
    xff(`10.9.9.9, ${client}`),
    { trust: 'private' },
    client,
  ],
  ['only trusted ones', proxy, xff('10.0.0.3, 10.0.0.2'), { trust: 'private' }, '10.0.0.3'],
  ['loopback', '127.0.0.1', xff(client), { trust: 'loopback' }, client],
  ['loopback of IPv6', '::1', xff(client), { trust: 'loopback' }, client],
  ['loopback for both families', '::ffff:127.0.0.1', xff(client), { trust: 'loopback' }, client],
  ['an address of IPv6', '2001:db8::2', xff(client), { trust: ['2001:db8::2'] }, client],
  ['a prefix of IPv6', '2001:db8:1:2::3', xff(client), { trust: ['2001:db8:1::/48'] }, client],
  ['an address mapped into IPv6', proxy, xff(client), { trust: `::ffff:${proxy}` }, client],
  ['a prefix mapped into IPv6', proxy, xff(client), { trust: '::ffff:10.0.0.0/112' }, client],
  ['all that is mapped', proxy, xff(client), { trust: '::ffff:0:0/96' }, client],
  ['beside the mapped prefix', proxy, xff(forged), { trust: '::ffff:10.1.0.0/112' }, proxy],
  [
    'beside the prefix',
    '2001:db8:2::3',
    xff(forged),
    { trust: ['2001:db8:1::/48'] },
    '2001:db8:2::3',
  ],
  ['everything', '203.0.113.1', xff('1.1.1.1'), { trust: '0.0.0.0/0' }, '1.1.1.1'],
  ['IPv6 is not in a prefix of IPv4', '::1', xff(forged), { trust: '0.0.0.0/0' }, '::1'],
  ['Cloudflare', '172.70.1.1', xff(`${forged}, ${client}`), { trust: 'cloudflare' }, client],
  [
    'Cloudflare before nginx',
    '127.0.0.1',
    xff(`${forged}, ${client}, 172.70.1.1`),
    { trust: ['loopback', 'cloudflare'] },
    client,
  ],
  [
    'around Cloudflare',
    '127.0.0.1',
    xff(`${forged}, 192.0.2.5`),
    { trust: ['loopback', 'cloudflare'] },
    '192.0.2.5',
  ],
  ['Fastly', '151.101.1.1', xff(client), { trust: 'fastly' }, client],
  [
    'a load balancer of AWS',
    '172.31.4.5',
    xff(`${forged}, ${client}`),
    { trust: 'aws-alb' },
    client,
  ],
  [
    'no one of the sort',
    '8.8.8.8',
    xff(forged),
    { trust: ['cloudflare', 'fastly', 'aws-alb'] },
    '8.8.8.8',
  ],

  // What stands in X-Forwarded-For.
  ['a port', proxy, xff(`${client}:4711`), { trust: 1 }, client],
  ['brackets', proxy, xff('[2001:db8::7]'), { trust: 1 }, '2001:db8::7'],
  ['brackets and a port', proxy, xff('[2001:db8::7]:4711'), { trust: 1 }, '2001:db8::7'],
  ['IPv6', proxy, xff('2001:db8::7'), { trust: 1 }, '2001:db8::7'],
  ['white space', proxy, xff(`${forged} ,\t ${client} `), { trust: 1 }, client],
  ['empty elements', proxy, xff(`, ${client}, ,`), { trust: 1 }, client],
  ['nothing', proxy, xff(''), { trust: 1 }, proxy],
  ['unknown', proxy, xff('unknown'), { trust: 1 }, proxy],
  [
    'unknown, with a word of its own before it',
    proxy,
    xff(`${forged}, unknown`),
    { trust: 2 },
    proxy,
  ],
  ['garbage of the client before a good one', proxy, xff(`'; --, ${client}`), { trust: 2 }, client],
  [
    'garbage that names a trusted one',
    proxy,
    xff(`${forged}, %00, 10.0.0.2`),
    { trust: 'private' },
    '10.0.0.2',
  ],
  ['a host name', proxy, xff('localhost'), { trust: 1 }, proxy],
  ['leading zeros', proxy, xff('010.0.0.7'), { trust: 1 }, proxy],
  ['a very long one', proxy, xff(`${'1.1.1.1, '.repeat(10_000)}${client}`), { trust: 1 }, client],

  // Forwarded.
  ['Forwarded', proxy, forwarded(`for=${client}`), byForwarded, client],
  [
    'its other pairs',
    proxy,
    forwarded(`proto=https;For=${client};by=10.0.0.1`),
    byForwarded,
    client,
  ],
  ['several', proxy, forwarded(`for=${forged}, for=${client}, for=10.0.0.2`), byForwarded, client],
  ['quotes', proxy, forwarded(`for="${client}:4711"`), byForwarded, client],
  ['an empty element of it', proxy, forwarded(`,for=${client},`), byForwarded, client],
  ['a hidden port', proxy, forwarded(`for="${client}:_p1"`), byForwarded, client],
  [
    'a hidden port of IPv6',
    proxy,
    forwarded('for="[2001:db8::7]:_a.b-c"'),
    byForwarded,
    '2001:db8::7',
  ],
  ['the shortest hidden port', proxy, forwarded(`for="${client}:_p"`), byForwarded, client],
  ['no port at all behind the colon', proxy, forwarded(`for="${client}:_"`), byForwarded, proxy],
  ['IPv6 in it', proxy, forwarded('for="[2001:db8::7]:4711"'), byForwarded, '2001:db8::7'],
  [
    'a comma in quotes',
    proxy,
    forwarded(`for=${forged};x="a,for=1.1.1.1", for=${client}`),
    byForwarded,
    client,
  ],
  ['a pair in quotes', proxy, forwarded(`x="a;for=1.1.1.1";for=${client}`), byForwarded, client],
  ['an escape', proxy, forwarded(`for="\\2\\0\\3.0.113.7"`), byForwarded, client],
  ['unknown in it', proxy, forwarded(`for=${forged}, for=unknown`), byForwarded, proxy],
  ['a hidden one', proxy, forwarded(`for=${forged}, for=_hidden`), byForwarded, proxy],
  ['an element without for', proxy, forwarded(`for=${forged}, proto=https`), byForwarded, proxy],
  ['for in another word', proxy, forwarded(`xfor=${forged}`), byForwarded, proxy],
  ['an open quote', proxy, forwarded(`for="${forged}`), byForwarded, proxy],
  [
    'a quote that the client leaves open',
    proxy,
    forwarded(`for=${forged};x=", for="[2001:db8::7]:4711"`),
    byForwarded,
    '2001:db8::7',
  ],
  [
    'a quote that the client leaves open before a host in quotes',
    proxy,
    forwarded(`for=${forged};x="\\", for=${client};host="login.example:8443"`),
    byForwarded,
    client,
  ],
  [
    'a quote whose beginning is cut off',
    proxy,
    forwarded(`x="${'a'.repeat(4096)}", for="${client}"`),
    byForwarded,
    client,
  ],
  [
    'pairs in the quotes of the pair before',
    proxy,
    forwarded(`host="a;for=${forged};b";for=${client}`),
    byForwarded,
    client,
  ],
  ['an escaped quote', proxy, forwarded(`x="a\\\\\\",b";for=${client}`), byForwarded, client],
  ['an escape before a quote', proxy, forwarded(`x="a\\\\";for=${client}`), byForwarded, client],

  // One header is believed.
  [
    'Forwarded beside it',
    proxy,
    { ...xff(client), ...forwarded(`for=${forged}`) },
    { trust: 1 },
    client,
  ],
  [
    'X-Forwarded-For beside it',
    proxy,
    { ...xff(forged), ...forwarded(`for=${client}`) },
    byForwarded,
    client,
  ],
  [
    'CF-Connecting-IP that nobody asked for',
    proxy,
    { ...xff(client), 'cf-connecting-ip': forged },
    { trust: 1 },
    client,
  ],
  [
    'CF-Connecting-IP',
    '172.70.1.1',
    { 'cf-connecting-ip': client },
    { trust: 'cloudflare', header: 'cf-connecting-ip' },
    client,
  ],
  [
    'CF-Connecting-IP of a stranger',
    '192.0.2.5',
    { 'cf-connecting-ip': forged },
    { trust: 'cloudflare', header: 'cf-connecting-ip' },
    '192.0.2.5',
  ],
  [
    'CF-Connecting-IP twice',
    '172.70.1.1',
    { 'cf-connecting-ip': `${forged}, ${client}` },
    { trust: 'cloudflare', header: 'cf-connecting-ip' },
    '172.70.1.1',
  ],
  [
    'True-Client-IP',
    '172.70.1.1',
    { 'true-client-ip': client },
    { trust: 'cloudflare', header: 'true-client-ip' },
    client,
  ],
  [
    'True-Client-IP of a stranger',
    '192.0.2.5',
    { 'true-client-ip': forged },
    { trust: 'cloudflare', header: 'true-client-ip' },
    '192.0.2.5',
  ],
  ['X-Real-IP', proxy, { 'x-real-ip': client }, { trust: 1, header: 'x-real-ip' }, client],
  [
    'X-Real-IP that nobody asked for',
    proxy,
    { ...xff(client), 'x-real-ip': forged },
    { trust: 1 },
    client,
  ],
  [
    'X-Real-IP of a stranger',
    '192.0.2.5',
    { 'x-real-ip': forged },
    { trust: 'private', header: 'x-real-ip' },
    '192.0.2.5',
  ],
  [
    'Fly-Client-IP',
    proxy,
    { 'fly-client-ip': client },
    { trust: 1, header: 'fly-client-ip' },
    client,
  ],
  [
    'X-Azure-ClientIP',
    proxy,
    { 'x-azure-clientip': client },
    { trust: 1, header: 'x-azure-clientip' },
    client,
  ],
  [
    'X-Azure-ClientIP twice',
    proxy,
    { 'x-azure-clientip': `${forged}, ${client}` },
    { trust: 1, header: 'x-azure-clientip' },
    proxy,
  ],
]

describe('the address of a request', () => {
  it.each(rows)('%s', (_claim, peer, headers, options, expected) => {
    const asNode: AddressedRequest = { headers, socket: { remoteAddress: peer } }
    expect(clientAddress(asNode, options)).toBe(expected)
    const asFetch: AddressedRequest = { headers: new Headers(headers), peer }
    expect(clientAddress(asFetch, options)).toBe(expected)
  })

  it('is the peer where nothing else is said', () => {
    expect(clientAddress({ headers: {}, socket: { remoteAddress: client } })).toBe(client)
    expect(clientAddress({ headers: {} })).toBeUndefined()
  })

  it('is found whatever the case of the names is, and where there is no peer', () => {
    const headers = { 'X-Forwarded-For': client }
    expect(clientAddress({ headers, peer: proxy }, { trust: 1 })).toBe(client)
    const socket = { remoteAddress: null }
    expect(clientAddress({ headers, socket }, { trust: 1 })).toBe(client)
    expect(clientAddress({ headers, socket })).toBeUndefined()
    expect(lacksAddressSource({ headers, socket })).toBe(true)
    expect(lacksAddressSource({ headers, socket }, { trust: 1 })).toBe(false)
  })

  it('is found by a header whose name is given with capitals', () => {
    const headers = { Forwarded: `For="${client}:_p"` }
    const header = 'Forwarded' as 'forwarded'
    expect(clientAddress({ headers, peer: proxy }, { trust: 1, header })).toBe(client)
    expect(lacksAddressSource({ headers }, { trust: 1, header })).toBe(false)
  })

  it('takes a header in two spellings for two lines of one, whose last the proxy wrote', () => {
    const headers = { 'x-forwarded-for': forged, 'X-Forwarded-For': client, 'x-forwarded-foo': '1' }
    expect(clientAddress({ headers, peer: proxy }, { trust: 1 })).toBe(client)
    const cf = { 'cf-connecting-ip': forged, 'CF-Connecting-IP': client }
    const believed: AddressOptions = { trust: 1, header: 'cf-connecting-ip' }
    expect(clientAddress({ headers: cf, peer: proxy }, believed)).toBe(proxy)
  })

  it.each<[string, object, string | undefined]>([
    ['without headers', { peer: proxy }, proxy],
    ['whose headers are null', { headers: null, peer: proxy }, proxy],
    [
      'whose headers are a Map',
      { headers: new Map([['x-forwarded-for', client]]), peer: proxy },
      client,
    ],
    ['whose header is a number', { headers: { 'x-forwarded-for': 5 }, peer: proxy }, proxy],
    ['whose header is null', { headers: { 'x-forwarded-for': null }, peer: proxy }, proxy],
    ['whose headers get a number', { headers: { get: () => 5 }, peer: proxy }, proxy],
    ['whose peer is a number', { headers: {}, peer: 5 }, undefined],
    ['whose socket is odd', { headers: {}, socket: { remoteAddress: {} } }, undefined],
    ['whose socket is null', { headers: {}, socket: null }, undefined],
  ])('of a request %s is read without a fault', (_claim, request, expected) => {
    expect(clientAddress(request as AddressedRequest, { trust: 1 })).toBe(expected)
  })

  it('reads a header that came in several lines', () => {
    const headers = { 'x-forwarded-for': [forged, client] }
    expect(clientAddress({ headers, peer: proxy }, { trust: 1 })).toBe(client)
  })

  it.each(['"\\', '"', '\\"', '"",', ';for="\\', ';for ', '\\'])(
    'reads %j repeated at once',
    (text) => {
      const headers = forwarded(text.repeat(4096 / text.length))
      const runs = Array.from({ length: 20 }, () => {
        const began = performance.now()
        clientAddress({ headers, peer: proxy }, byForwarded)
        return performance.now() - began
      })
      expect(Math.min(...runs)).toBeLessThan(8)
    },
  )

  it.each<[Trust]>([
    ['10.0.0.0/33'],
    ['10.0.0.1/'],
    ['here'],
    [['private', '']],
    [-1],
    [1.5],
    ['1'],
    [true as unknown as Trust],
    [null as unknown as Trust],
    [{} as unknown as Trust],
    [[true] as unknown as Trust],
  ])('cannot be asked with the trust %j', (trust) => {
    expect(() => clientAddress({ headers: {}, peer: proxy }, { trust })).toThrow('`trust`')
  })

  it('cannot be asked with a header that is none of them', () => {
    const header = 'x-client-ip' as 'forwarded'
    expect(() => clientAddress({ headers: {}, peer: proxy }, { header })).toThrow('`header`')
  })
})

describe('the presets', () => {
  it.each(['cloudflare', 'fastly'] as const)('of %s are of the feed that is known', (name) => {
    const path = join(packageRoot, `data/feeds/hosting-${name}.json`)
    const { usual_entries: count, files } = JSON.parse(readFileSync(path, 'utf8')) as {
      readonly usual_entries: number
      readonly files: readonly { readonly url: string }[]
    }
    expect(proxyPresets[name]).toHaveLength(count)
    const text = readFileSync(join(packageRoot, 'src/client/address/proxy-presets.ts'), 'utf8')
    for (const { url } of files) expect(text).toContain(url)
  })
})
