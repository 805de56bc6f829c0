import { describe, expect, it } from 'vitest'
import { openTable } from '../../../src/table/open-table.ts'
import { verifyTable } from '../../../src/table/file/verify/verify-table.ts'
import { smallContent, writeSmallTable } from '../small-table.ts'
import { encodedTable } from '../encoded-table.ts'

const path = writeSmallTable()
const table = openTable(path)

describe('openTable', () => {
  it('answers with every member of the contract', () => {
    const answer = table.check('9.1.2.3')
    expect(answer).toMatchObject({
      classification: 'tor',
      risk_level: 'very_high',
      ip: '9.1.2.3',
      version: 4,
      network: { asn: 64496, organization: 'Example Access', type: 'isp', mobile: false },
      location: {
        country_code: 'DE',
        city: 'Berlin',
        zip: '10115',
        latitude: 52.52,
        longitude: 13.405,
        accuracy: 'city',
      },
      proxy: { type: 'tor', confidence: 'high', last_seen_at: '2026-08-22' },
      bot: null,
      signals: { tor: true, blocklist_match: true, bogon: false },
      table: table.id,
    })
    expect(answer).not.toHaveProperty('address')
  })

  it.each([
    ['9.1.2.4', 'clean'],
    ['9.200.1.1', 'vpn'],
    ['11.5.5.5', 'hosting'],
    ['11.1.1.1', 'vpn'],
    ['12.0.0.5', 'residential_proxy'],
    ['9.9.9.9', 'proxy'],
    ['11.66.1.1', 'known_bot'],
    ['2a01:4f8::1', 'tor'],
    ['2a01:4f8::2', 'hosting'],
    ['2a01:4f8::3', 'vpn'],
    ['2a00:1:2:3:ffff::', 'proxy'],
    ['10.0.0.1', 'bogon'],
    ['::1', 'bogon'],
    ['fe80::1', 'bogon'],
    ['2001:db8::1', 'bogon'],
  ])('%s is %s', (address, classification) => {
    expect(table.check(address)?.classification).toBe(classification)
  })

  it('judges IPv4-mapped text as the IPv4 address', () => {
    expect(table.check('::ffff:9.1.2.3')).toMatchObject({
      classification: 'tor',
      version: 4,
      ip: '::ffff:9.1.2.3',
      address: '9.1.2.3',
    })
  })

  it('gives the canonical text where it was not sent', () => {
    expect(table.check('2A01:04f8:0:0:0:0:0:1')).toMatchObject({
      version: 6,
      ip: '2A01:04f8:0:0:0:0:0:1',
      address: '2a01:4f8::1',
    })
  })

  it.each([
    ['6to4 of a Tor exit', '2002:0901:0203::1', 'tor', 64496],
    ['NAT64 of a Tor exit', '64:ff9b::9.1.2.3', 'tor', 64496],
    ['Teredo of a Tor exit', `2001:0:1:2::f6fe:fdfc`, 'tor', 64496],
    ['6to4 of a VPN server', '2002:0b01:0101::7', 'vpn', 64497],
    ['6to4 listed itself, over a hosting address', '2002:0b01:0102::7', 'proxy', 64497],
  ])('%s', (_name, address, classification, asn) => {
    const answer = table.check(address)
    expect(answer).toMatchObject({ classification, version: 6, network: { asn } })
    expect(answer?.location === undefined).toBe(false)
  })

  it.each(['2002:0a00:0001::', '64:ff9b::10.0.0.1', '2001:0:1:2::f5ff:fffe'])(
    '%s holds a bogon and is one',
    (address) => {
      const answer = table.check(address)
      expect(answer).toMatchObject({ classification: 'bogon', risk_score: 0, network: null })
      expect(answer).toMatchObject({ location: null, proxy: null, bot: null })
      expect(answer?.signals.bogon).toBe(true)
    },
  )

  it('calls space that nobody announces unannounced', () => {
    expect(table.check('13.0.0.1')).toMatchObject({
      classification: 'clean',
      risk_score: 15,
      reasons: ['unannounced'],
      network: null,
      location: null,
    })
    expect(table.check('2a09::1')?.reasons).toEqual(['unannounced'])
  })

  it.each(['', 'x', '1.2.3', '1.2.3.4 ', '01.2.3.4', '1.2.3.4/32', 'fe80::1%eth0', '[::1]'])(
    'gives nothing for %j',
    (text) => {
      expect(table.check(text)).toBeUndefined()
    },
  )

  it('shares the parts of answers, and lets nobody change them', () => {
    const parts = ['network', 'location', 'proxy', 'bot', 'signals', 'reasons'] as const
    const seen = new Set<string>()
    for (const ip of ['9.1.2.3', '11.66.1.1']) {
      const [one, other] = [table.check(ip)!, table.check(ip)!]
      expect(one).not.toBe(other)
      for (const part of parts) {
        if (one[part] === null) continue
        expect(one[part]).toBe(other[part])
        expect(Object.isFrozen(one[part])).toBe(true)
        seen.add(part)
      }
    }
    expect([...seen].toSorted()).toEqual(parts.toSorted())
  })

  it('refuses to answer after close', () => {
    const other = openTable(path)
    other.close()
    other.close()
    expect(() => other.check('9.1.2.3')).toThrow('was closed')
  })
})

describe('the file', () => {
  it('passes verification', () => {
    expect(verifyTable(path)).toEqual({ id: table.id, bytes: table.bytes })
  })

  it('is the same for the same content', () => {
    const one = encodedTable(smallContent())
    const other = encodedTable(smallContent())
    expect(one.id).toBe(table.id)
    expect(Buffer.from(one.bytes).equals(other.bytes)).toBe(true)
  })

  it('has another id for another day', () => {
    const content = smallContent()
    const other = encodedTable({ ...content, asOf: (content.asOf + 1) as typeof content.asOf })
    expect(other.id).not.toBe(table.id)
  })
})
