// Behind which proxies a `trust` or `header` that does not fit them is noticed, and what is advised.

import { describe, expect, it } from 'vitest'
import { walkProxies } from '../../../src/client/address/proxy-walk.ts'
import { trustMistake } from '../../../src/client/address/trust-mistake.ts'
import type { AddressHeader, Trust } from '../../../src/client/address/trusted-proxies.ts'

const client = '203.0.113.7'
const xff = (value: string) => ({ 'x-forwarded-for': value })

type Headers = Readonly<Record<string, string>>
type Options = { readonly trust?: Trust; readonly header?: AddressHeader }

function mistakeOf(peer: string | undefined, headers: Headers, options: Options) {
  const { trust = 0, header = 'x-forwarded-for' } = options
  const request = { headers, socket: { remoteAddress: peer } }
  const from = { trust, header }
  return trustMistake(request, from, walkProxies(request, from))
}

const hidden = { forwarded: 'for=_hidden' }

describe('a mistake', () => {
  it.each<[string, string | undefined, Headers, Options, readonly string[]]>([
    ['no trust, loopback', '127.0.0.1', xff(client), {}, ['not set', '127.0.0.1', '`trust: 1`']],
    ['no trust, mapped', '::ffff:10.0.0.1', xff(client), {}, ['10.0.0.1', '`trust: 1`']],
    ['no trust, IPv6', 'fd00::1', xff('2001:db8::7'), {}, ['fd00::1', '`trust: 1`']],
    ['no trust, link-local', 'fe80::1%eth0', xff(client), {}, ['fe80::1', '`trust: 1`']],
    ['no trust, shared space', '100.64.0.1', xff(client), {}, ['100.64.0.1', '`trust: 1`']],
    ['no trust, two proxies', '10.0.0.1', xff(`${client}, 10.0.0.2`), {}, ['`trust: 2`']],
    ['a forged one left of it', '10.0.0.1', xff(`1.1.1.1, ${client}`), {}, ['`trust: 1`']],
    [
      'a hop too few',
      '10.0.0.1',
      xff(`${client}, 10.0.0.5`),
      { trust: 1 },
      ['`trust: 1` stops at 10.0.0.5', 'probably `trust: 2`'],
    ],
    [
      'a hop too many, by which a visitor names a private address',
      '10.0.0.1',
      xff(`10.9.9.9, ${client}`),
      { trust: 2 },
      ['`trust: 2` stops at 10.9.9.9', 'probably `trust: 1`'],
    ],
    [
      'a range without the proxy',
      '172.17.0.1',
      xff(client),
      { trust: 'loopback' },
      ['does not include the proxy 172.17.0.1', "'private'"],
    ],
    [
      'ranges without a proxy in shared space',
      '10.0.0.1',
      xff(`${client}, 100.64.0.9`),
      { trust: ['private'] },
      ['100.64.0.9', "'100.64.0.0/10'"],
    ],
    [
      'another header',
      '10.0.0.1',
      xff(client),
      { trust: 1, header: 'cf-connecting-ip' },
      ['cf-connecting-ip holds no public', "`header: 'x-forwarded-for'`"],
    ],
    [
      'another header that cannot be named',
      '127.0.0.1',
      { 'x-client-ip': client },
      { trust: 'loopback' },
      ['x-client-ip', 'configure the proxy to write x-forwarded-for.'],
    ],
    [
      'another header beside one that names a proxy alone',
      '127.0.0.1',
      { ...xff('10.0.0.5'), forwarded: `for="${client}:4711"` },
      { trust: 1 },
      ["`header: 'forwarded'`"],
    ],
    [
      'another header that can be named',
      '127.0.0.1',
      { 'X-Real-IP': client },
      { trust: 'loopback' },
      ['x-real-ip does', "`header: 'x-real-ip'`"],
    ],
    ['no trust, another header', '127.0.0.1', { 'X-Real-IP': `${client}:80` }, {}, ['x-real-ip']],
    [
      'no peer, private in the header',
      undefined,
      { ...xff('10.0.0.5'), 'cf-connecting-ip': client },
      { trust: 1 },
      ["`header: 'cf-connecting-ip'`"],
    ],
    [
      'a proxy that hides the visitor',
      '10.0.0.1',
      hidden,
      { trust: 1, header: 'forwarded' },
      ['10.0.0.1 writes something in forwarded', 'not an address'],
    ],
    [
      'a proxy that hides its own client',
      '10.0.0.1',
      xff(`${client}, unknown, 10.0.0.2`),
      { trust: 'private' },
      ['10.0.0.2 writes something', 'not an address'],
    ],
  ])('%s', (_claim, peer, headers, options, said) => {
    const mistake = mistakeOf(peer, headers, options)
    for (const part of said) expect(mistake).toContain(part)
    // Logs must not show a visitor's address.
    expect(mistake).not.toContain(client)
    expect(mistake).not.toContain('1.1.1.1')
  })

  it.each([
    'x-client-ip',
    'x-cluster-client-ip',
    'x-nf-client-connection-ip',
    'x-appengine-user-ip',
    'x-original-forwarded-for',
    'x-envoy-external-address',
    'fastly-client-ip',
    'do-connecting-ip',
    'x-vercel-forwarded-for',
    'cloudfront-viewer-address',
  ])('is an address in %s, which one vendor writes', (name) => {
    expect(mistakeOf('10.0.0.1', { [name]: client }, {})).toContain(`but ${name} does`)
  })

  it.each<[string, string | undefined, Headers, Options]>([
    ['a server without proxies, whatever is forged', client, xff('1.1.1.1'), {}],
    ['the same over IPv6', '2001:db8::7', { 'x-real-ip': '1.1.1.1' }, {}],
    ['no header, on the same machine', '127.0.0.1', {}, {}],
    ['a private visitor behind a proxy', '10.0.0.1', xff('10.1.2.3'), { trust: 1 }],
    ['a probe of the proxy itself', '10.0.0.1', {}, { trust: 1 }],
    ['the right count', '10.0.0.1', xff(client), { trust: 1 }],
    ['the right range', '127.0.0.1', xff(`1.1.1.1, ${client}`), { trust: 'loopback' }],
    [
      'a hidden port',
      '10.0.0.1',
      { forwarded: `for="${client}:_p1"` },
      { trust: 1, header: 'forwarded' },
    ],
    ['a word of the visitor', '10.0.0.1', xff(`unknown, ${client}`), { trust: 2 }],
    ['no address at all', undefined, {}, {}],
    ['NAT64, which is judged', '64:ff9b::808:808', xff('1.1.1.1'), {}],
  ])('is not %s', (_claim, peer, headers, options) => {
    expect(mistakeOf(peer, headers, options)).toBeUndefined()
  })
})
