import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readCountries } from '../../../build/places/countries.ts'
import { newPlaceDictionary } from '../../../build/places/place-dictionary.ts'
import { newPlaceResolver } from '../../../build/places/place.ts'
import type { RawPlace } from '../../../build/mmdb/mmdb-layouts.ts'
import type { Location } from '../../../src/api/check-answer.ts'

const countries = readCountries()
const locate = newPlaceResolver(countries)

const raw = (members: Partial<RawPlace>): RawPlace => ({
  country: 'US',
  state: '',
  city: '',
  zip: '',
  latitude: undefined,
  longitude: undefined,
  timezone: '',
  ...members,
})

describe('a place', () => {
  it('gets all members that follow from its country and its point', () => {
    const place = raw({
      state: 'California',
      city: 'Mountain View',
      zip: '94043',
      latitude: 37.422000885009766,
      longitude: -122.08499908447266,
    })
    expect(locate(place)).toEqual({
      country_code: 'US',
      continent_code: 'NA',
      continent: 'North America',
      country: 'United States',
      state: 'California',
      city: 'Mountain View',
      zip: '94043',
      latitude: 37.422,
      longitude: -122.085,
      timezone: 'America/Los_Angeles',
      currency_code: 'USD',
      accuracy: 'city',
    })
  })

  it('of which only the country is known gets its reference point', () => {
    expect(locate(raw({ country: 'NO' }))).toMatchObject({
      latitude: 62,
      longitude: 10,
      timezone: 'Europe/Oslo',
      accuracy: 'country',
      city: '',
      state: '',
    })
    expect(locate(raw({ country: 'US' }))).toMatchObject({
      latitude: 38,
      longitude: -97,
      timezone: 'America/Chicago',
    })
  })

  it.each(['ZZ', 'EU', 'AP', 'A1', '', 'UNITED STATES', '__PROTO__', 'constructor'])(
    'in %j is nowhere',
    (country) => {
      expect(locate(raw({ country, city: 'X', latitude: 1, longitude: 1 }))).toBeUndefined()
    },
  )

  it.each<[string, Partial<RawPlace>, string]>([
    ['a city', { city: 'X', state: 'Y', latitude: 1, longitude: 2 }, 'city'],
    ['a state', { state: 'Y', latitude: 1, longitude: 2 }, 'region'],
    ['a point alone', { latitude: 1, longitude: 2 }, 'country'],
    ['a city without a point', { city: 'X', state: 'Y' }, 'country'],
  ])('%s has accuracy of its point', (_, members, accuracy) => {
    expect(locate(raw(members))?.accuracy).toBe(accuracy)
  })

  it.each<[string, number, number]>([
    ['nowhere', 0, 0],
    ['too far north', 90.1, 0],
    ['too far west', 10, -180.5],
    ['not a number', NaN, 1],
  ])('%s gets the reference point', (_, latitude, longitude) => {
    const location = locate(raw({ city: 'X', latitude, longitude }))
    expect(location).toMatchObject({ latitude: 38, longitude: -97, accuracy: 'country' })
  })

  it('has at most four decimals and no negative zero', () => {
    const location = locate(raw({ latitude: -0.00001, longitude: 179.99999 }))!
    expect(Object.is(location.latitude, 0)).toBe(true)
    expect(location.longitude).toBe(180)
    expect(locate(raw({ latitude: 1.00005, longitude: 1 }))!.latitude).toBe(1.0001)
  })

  it.each<[string, string, string]>([
    ['stated', 'America/Denver', 'America/Denver'],
    ['stated in three parts', 'America/Indiana/Knox', 'America/Indiana/Knox'],
    ['an offset is none', '-08:00', 'America/New_York'],
    ['nothing stated', '', 'America/New_York'],
  ])('time zone: %s', (_, timezone, expected) => {
    const location = locate(raw({ latitude: 40.71, longitude: -74.01, timezone }))
    expect(location?.timezone).toBe(expected)
  })

  it('in a country of one time zone has that zone, however near the border', () => {
    expect(locate(raw({ country: 'LI', latitude: 47.14, longitude: 9.52 }))?.timezone).toBe(
      'Europe/Vaduz',
    )
  })
})

describe('countries', () => {
  it('have sensible facts', () => {
    const facts = (code: string): string => {
      const country = countries.get(code)
      return `${country?.name}, ${country?.continent}, ${country?.currency}`
    }
    expect(['TR', 'CZ', 'MK', 'SZ', 'HK', 'XK', 'CH', 'BG', 'GB', 'AQ'].map(facts)).toEqual([
      'Türkiye, Asia, TRY',
      'Czechia, Europe, CZK',
      'North Macedonia, Europe, MKD',
      'Eswatini, Africa, SZL',
      'Hong Kong, Asia, HKD',
      'Kosovo, Europe, EUR',
      'Switzerland, Europe, CHF',
      'Bulgaria, Europe, EUR',
      'United Kingdom, Europe, GBP',
      'Antarctica, Antarctica, ',
    ])
  })

  it('have all text and a point on Earth, and a zone that Node knows', () => {
    expect(countries.size).toBeGreaterThan(248)
    for (const country of countries.values()) {
      expect(country.name.trim()).not.toBe('')
      expect(Math.abs(country.latitude)).toBeLessThanOrEqual(90)
      expect(Math.abs(country.longitude)).toBeLessThanOrEqual(180)
      expect(country.currency).toMatch(country.code === 'AQ' ? /^$/ : /^[A-Z]{3}$/)
      const zone = locate(raw({ country: country.code }))!.timezone
      expect(() => new Intl.DateTimeFormat('en', { timeZone: zone })).not.toThrow()
    }
  })

  it.each([
    ['no header', 'NO,62,10,Europe/Oslo\n', /line 1: not the header/],
    [
      'a bad row',
      'code,latitude,longitude,timezone\nNO,62\n',
      /line 2: not a country's only row: NO,62/,
    ],
    ['a code twice', `code,latitude,longitude,timezone\n${'NO,62,10,\n'.repeat(2)}`, /line 3/],
    ['an unknown code', 'code,latitude,longitude,timezone\nZZ,62,10,\n', /line 2/],
    ['rows missing', 'code,latitude,longitude,timezone\nNO,62,10,\n', /no row for AC, AD, AE/],
  ])('refuse a table with %s', (_, text, says) => {
    const path = join(mkdtempSync(join(tmpdir(), 'iprisk-')), 'countries.csv')
    writeFileSync(path, text)
    expect(() => readCountries(path)).toThrowError(says)
  })
})

describe('the dictionary', () => {
  it('gives equal locations one id, and others their own, in order', () => {
    const dictionary = newPlaceDictionary()
    const made: Location[] = []
    for (let i = 0; i < 5000; i++) {
      const place = { latitude: i % 50, longitude: 3, city: `c${i % 40}`, zip: `${i % 30}` }
      made.push(locate(raw({ ...place, state: `s${i % 20}` }))!)
    }
    // The slow twin: a Map by the whole text.
    const ids = new Map<string, number>()
    for (const location of made) {
      const text = JSON.stringify(location)
      if (!ids.has(text)) ids.set(text, ids.size + 1)
      expect(dictionary.id(location)).toBe(ids.get(text))
    }
    expect(dictionary.locations.length).toBe(ids.size)
    expect(ids.size).toBe(600)
    expect(dictionary.locations.map((location) => JSON.stringify(location))).toEqual([
      ...ids.keys(),
    ])
  })

  it.each(['city', 'state', 'zip'] as const)('tells 20,000 of one point apart by %s', (member) => {
    const dictionary = newPlaceDictionary()
    const ids = Array.from({ length: 20_000 }, (_, i) =>
      dictionary.id(locate(raw({ latitude: 1, longitude: 2, [member]: `${i}` }))!),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('tells apart what differs in one member alone', () => {
    const dictionary = newPlaceDictionary()
    const base = { latitude: 1, longitude: 2, city: 'c', state: 's', zip: 'z' }
    const all = [
      base,
      { ...base, latitude: 1.0001 },
      { ...base, longitude: 2.0001 },
      { ...base, city: 'd' },
      { ...base, state: 't' },
      { ...base, zip: 'y' },
      { ...base, country: 'CA' },
      { ...base, timezone: 'Europe/Oslo' },
    ]
    expect(all.map((place) => dictionary.id(locate(raw(place))!))).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })
})
