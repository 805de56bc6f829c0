// Where a request may lead: addresses, redirects, and names where they are resolved.

import { describe, expect, it } from 'vitest'
import {
  type ResolveHost,
  isRedirect,
  isSpecialHost,
  judgeRedirect,
  outboundLookup,
} from '../../src/ip/outbound-policy.ts'

describe('isSpecialHost', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '0.0.0.0',
    '[::1]',
    '::',
    'fe80::1%eth0',
    'fd00::1',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '2002:7f00:1::',
  ])('refuses %s', (address) => {
    expect(isSpecialHost(address)).toBe(true)
  })

  it.each(['8.8.8.8', '[2606:4700::1111]', '64:ff9b::808:808', 'localhost', 'feeds.example', ''])(
    'leaves %j',
    (address) => {
      expect(isSpecialHost(address)).toBe(false)
    },
  )
})

describe('judgeRedirect', () => {
  const from = new URL('https://a.example/x')

  it.each([
    ['/y', 'follow', 'https://a.example/y'],
    ['https://b.example/', 'follow', 'https://b.example/'],
    ['http://a.example/x', 'downgrade', 'http://a.example/x'],
    ['file:///etc/passwd', 'scheme', 'file:///etc/passwd'],
    ['http://[', 'no_address', undefined],
    [undefined, 'no_address', undefined],
  ])('%s: %s', (location, kind, to) => {
    const redirect = judgeRedirect(from, location)
    expect(redirect.kind).toBe(kind)
    expect('to' in redirect ? redirect.to.href : undefined).toBe(to)
  })

  it('lets http become https', () => {
    const redirect = judgeRedirect(new URL('http://a.example/'), 'https://a.example/')
    expect(redirect.kind).toBe('follow')
  })

  it('knows which statuses lead on', () => {
    expect([300, 301, 302, 303, 304, 307, 308].filter(isRedirect)).toEqual([
      301, 302, 303, 307, 308,
    ])
  })
})

describe('outboundLookup', () => {
  const answers: Readonly<Record<string, readonly string[]>> = {
    'public.example': ['8.8.8.8', '1.1.1.1'],
    'mixed.example': ['8.8.8.8', '127.0.0.1'],
  }
  const resolve: ResolveHost = (host, _options, callback) => {
    const found = answers[host] ?? []
    callback(
      null,
      found.map((address) => ({ address, family: 4 })),
    )
  }
  const ask = async (host: string, all: boolean, isGuarded = true): Promise<unknown> =>
    new Promise((done, fail) => {
      const refuse = (name: string, address: string): Error => new Error(`${name} is ${address}`)
      outboundLookup(resolve, isGuarded ? refuse : undefined)(host, { all }, (error, address) => {
        if (error === null) done(address)
        else fail(error)
      })
    })

  it('answers in both forms that sockets ask for', async () => {
    expect(await ask('public.example', false)).toBe('8.8.8.8')
    expect(await ask('public.example', true)).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '1.1.1.1', family: 4 },
    ])
  })

  it('refuses a name with one private address, unless any address may be', async () => {
    await expect(ask('mixed.example', true)).rejects.toThrow('mixed.example is 127.0.0.1')
    await expect(ask('none.example', true)).rejects.toThrow('none.example has no address')
    expect(await ask('mixed.example', false, false)).toBe('8.8.8.8')
  })
})
