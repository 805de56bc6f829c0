// MMDB files of the small table, read back by npm maxmind and by the compiler's own reader: each
// layout says of every address what `check` says.

import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Reader, type Response } from 'mmdb-lib'
import { describe, expect, it } from 'vitest'
import { parseMmdb } from '../../build/mmdb/mmdb-file.ts'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import type { MmdbLayoutName } from '../../src/config/export-formats.ts'
import { formatDay } from '../../src/base/day.ts'
import {
  checked,
  exported,
  isIpv4Space,
  isLeftOut,
  sampleAddresses,
  smallTable,
} from './small-export.ts'
import {
  anonymousIpOf,
  anonymousPlusOf,
  asnOf,
  cityOf,
  countryOf,
  fullOf,
  residentialProxyOf,
} from './database-answers.ts'

const addresses = sampleAddresses(2000).filter((ip) => !isLeftOut(ip) && !isIpv4Space(ip))

async function readerOf(wishes: {
  readonly layout?: MmdbLayoutName
  readonly fields?: readonly string[]
  readonly where?: string
}): Promise<{ readonly get: (ip: string) => unknown; readonly path: string }> {
  const { path } = await exported({ format: 'mmdb', ...wishes })
  const reader = new Reader<Response>(readFileSync(path))
  return { get: (ip) => reader.get(ip), path }
}

describe('an MMDB', () => {
  it.each([
    ['iprisk', fullOf],
    ['anonymous-ip', anonymousIpOf],
    ['anonymous-plus', anonymousPlusOf],
    ['residential-proxy', residentialProxyOf],
    ['country', countryOf],
    ['city', cityOf],
    ['asn', asnOf],
  ] as const)('in the layout %s says what check says', async (layout, expected) => {
    const { get } = await readerOf({ layout })
    expect(addresses.length).toBeGreaterThan(4000)
    const wrong = addresses.filter((ip) => !isDeepStrictEqual(get(ip), expected(checked(ip))))
    expect(wrong.map((ip) => [ip, get(ip), expected(checked(ip))])).toEqual([])
    const known = addresses.filter((ip) => get(ip) !== null).length
    const fewest = { 'anonymous-ip': 20, 'anonymous-plus': 20, 'residential-proxy': 1 } as Readonly<
      Record<string, number>
    >
    expect(known).toBeGreaterThanOrEqual(fewest[layout] ?? 50)
  })

  it('has of the fields that are asked for those that are known, side by side', async () => {
    const { get } = await readerOf({ fields: ['classification', 'asn', 'city', 'mobile'] })
    expect(get('9.1.2.3')).toEqual({
      classification: 'tor',
      asn: 64496,
      city: 'Berlin',
      mobile: false,
    })
    expect(get('1.2.3.4')).toEqual({ classification: 'clean' })
  })

  // Each reads other parts of a record, by which what it said is remembered.
  it.each<[string, (answer: CheckAnswer) => boolean]>([
    ['signals.tor', ({ signals }) => signals.tor],
    ['version == 6', ({ version }) => version === 6],
    ['network.asn == 64498', ({ network }) => network?.asn === 64498],
    ['location.country_code == "DE"', ({ location }) => location?.country_code === 'DE'],
    [
      'signals.tor || network.asn == 64498',
      ({ signals, network }) => signals.tor || network?.asn === 64498,
    ],
    [
      'location.country_code == "DE" && !signals.tor && version == 4',
      ({ location, signals, version }) =>
        location?.country_code === 'DE' && !signals.tor && version === 4,
    ],
    [
      'network.asn == 64496 && location.country_code == "DE"',
      ({ network, location }) => network?.asn === 64496 && location?.country_code === 'DE',
    ],
  ])('holds only what this is true of: %s', async (where, isTrue) => {
    const { get } = await readerOf({ where })
    const wrong = addresses.filter((ip) => (get(ip) !== null) !== isTrue(checked(ip)))
    expect(wrong).toEqual([])
    expect(addresses.some((ip) => get(ip) !== null)).toBe(true)
  })

  it('leads from IPv4-mapped, NAT64 and 6to4 to IPv4, from Teredo nowhere', async () => {
    const { get } = await readerOf({})
    const tor = fullOf(checked('9.1.2.3'))
    expect(get('::ffff:9.1.2.3')).toEqual(tor)
    expect(get('64:ff9b::9.1.2.3')).toEqual(tor)
    expect(get('2002:901:203::1')).toEqual(tor)
    expect(get('2001:0:4136:e378:8000:63bf:f6fe:fdfc')).toBeNull()
  })

  it('is the same file again, and says its table, its day and that its sources stand beside it', async () => {
    const [one, two] = [await readerOf({}), await readerOf({})]
    expect(readFileSync(one.path).equals(readFileSync(two.path))).toBe(true)
    const file = parseMmdb(one.path, readFileSync(one.path))
    expect(file).toMatchObject({ ipVersion: 6, recordBits: 24, databaseType: 'iprisk' })
    expect(formatDay(file.day)).toBe(formatDay(smallTable.asOf))
    const { metadata } = new Reader(readFileSync(one.path))
    expect(metadata.description).toMatchObject({
      en: expect.stringContaining(smallTable.id) as unknown,
    })
  })
})
