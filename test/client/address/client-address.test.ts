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

interface Row {
  readonly claim: string
  readonly peer: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly options: AddressOptions
  readonly expected: string | null
}

/** The Python client reads them, too. */
const rows = JSON.parse(
  readFileSync(join(packageRoot, 'test/client/vectors/client-address.json'), 'utf8'),
) as readonly Row[]

describe('the address of a request', () => {
  it.each(rows)('$claim', ({ headers, options, ...row }) => {
    const [peer, expected] = [row.peer ?? undefined, row.expected ?? undefined]
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
      const headers = { forwarded: text.repeat(4096 / text.length) }
      const runs = Array.from({ length: 20 }, () => {
        const began = performance.now()
        clientAddress({ headers, peer: proxy }, { trust: 'private', header: 'forwarded' })
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
