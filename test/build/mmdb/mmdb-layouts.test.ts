import { describe, expect, it } from 'vitest'
import { locationOf, networkOf, type RawPlace } from '../../../build/mmdb/mmdb-layouts.ts'

const place = (members: Partial<RawPlace>): RawPlace => ({
  country: '',
  state: '',
  city: '',
  zip: '',
  latitude: undefined,
  longitude: undefined,
  timezone: '',
  ...members,
})

const oslo = {
  country: 'NO',
  state: 'Oslo County',
  city: 'Oslo',
  zip: '0150',
  latitude: 59.9127,
  longitude: 10.7461,
  timezone: 'Europe/Oslo',
}

const places: readonly (readonly [what: string, record: unknown, found: RawPlace | undefined])[] = [
  [
    '@ip-location-db/dbip-city',
    {
      city: 'Mountain View',
      country_code: 'US',
      latitude: 37.422000885009766,
      longitude: -122.08499908447266,
      postcode: '',
      state1: 'California',
      state2: '',
      timezone: '',
    },
    place({
      country: 'US',
      state: 'California',
      city: 'Mountain View',
      latitude: 37.422000885009766,
      longitude: -122.08499908447266,
    }),
  ],
  ['@ip-location-db country', { country_code: 'de' }, place({ country: 'DE' })],
  [
    'GeoLite2-City',
    {
      city: { geoname_id: 3143244, names: { de: 'Oslo (de)', en: 'Oslo' } },
      continent: { code: 'EU', names: { en: 'Europe' } },
      country: { iso_code: 'NO', names: { en: 'Norway' } },
      location: {
        accuracy_radius: 20,
        latitude: 59.9127,
        longitude: 10.7461,
        time_zone: 'Europe/Oslo',
      },
      postal: { code: '0150' },
      registered_country: { iso_code: 'SE' },
      subdivisions: [{ iso_code: '03', names: { en: 'Oslo County' } }, { names: { en: 'deeper' } }],
    },
    place(oslo),
  ],
  [
    'GeoLite2-Country',
    { continent: { code: 'EU' }, country: { iso_code: 'NO' }, registered_country: {} },
    place({ country: 'NO' }),
  ],
  ['GeoIP2, registered alone', { registered_country: { iso_code: 'NO' } }, undefined],
  ['GeoIP2, continent alone', { continent: { code: 'EU', names: { en: 'Europe' } } }, undefined],
  ['GeoIP2, traits alone', { traits: { is_anycast: true } }, undefined],
  [
    'IPinfo, numbers as text',
    {
      city: 'Oslo',
      region: 'Oslo County',
      country: 'NO',
      lat: '59.9127',
      lng: '10.7461',
      postal_code: '0150',
      timezone: 'Europe/Oslo',
      geoname_id: '3143244',
    },
    place(oslo),
  ],
  [
    'IPinfo, latitude and longitude, zip',
    {
      city: 'Oslo',
      region: 'Oslo County',
      region_code: '03',
      country: 'Norway',
      country_code: 'NO',
      continent: 'Europe',
      latitude: '59.9127',
      longitude: '10.7461',
      zip: '0150',
      timezone: 'Europe/Oslo',
    },
    place(oslo),
  ],
  [
    'IPinfo, loc and postal',
    {
      city: 'Oslo',
      region: 'Oslo County',
      country: 'NO',
      loc: '59.9127,10.7461',
      postal: '0150',
      timezone: 'Europe/Oslo',
    },
    place(oslo),
  ],
  [
    'IPinfo Lite',
    {
      asn: 'AS2119',
      as_name: 'Telenor',
      as_domain: 'telenor.no',
      country: 'Norway',
      country_code: 'NO',
      continent: 'Europe',
      continent_code: 'EU',
    },
    place({ country: 'NO' }),
  ],
  [
    'IPinfo, nested geo',
    {
      geo: {
        city: 'Oslo',
        region: 'Oslo County',
        country: 'Norway',
        country_code: 'NO',
        postal_code: '0150',
        latitude: 59.9127,
        longitude: 10.7461,
        timezone: 'Europe/Oslo',
      },
      as: { asn: 'AS2119', name: 'Telenor' },
    },
    place(oslo),
  ],
  ['flat without a country', { city: '', continent_code: 'EU' }, undefined],
  ['nothing', {}, undefined],
  [
    'text around and nonsense for numbers',
    { country_code: ' no ', city: ' Oslo ', lat: 'north', lng: '10e1', region: 7, zip: null },
    place({ country: 'NO', city: 'Oslo' }),
  ],
]

describe('locationOf', () => {
  it.each(places)('%s', (_, record, found) => {
    expect(locationOf(record)).toEqual(found)
  })

  it.each([
    ['a network', { autonomous_system_number: 64500, autonomous_system_organization: 'X' }],
    ['text', 'NO'],
    ['a list', [1, 2]],
    ['no value', null],
  ])('refuses %s and says what it knows', (_, record) => {
    expect(() => locationOf(record)).toThrowError(/no known layout of places.*GeoIP2.*flat.*IPinfo/)
  })

  it('names the members of what it refuses', () => {
    expect(() => locationOf({ is_proxy: true, isp: 'x' })).toThrowError(/members: is_proxy, isp\./)
  })
})

const networks: readonly (readonly [what: string, record: unknown, found: unknown])[] = [
  [
    'GeoLite2-ASN, DB-IP ASN',
    { autonomous_system_number: 64500, autonomous_system_organization: ' Example ' },
    { asn: 64500, organization: 'Example' },
  ],
  ['without a name', { autonomous_system_number: 64500 }, { asn: 64500, organization: '' }],
  [
    'GeoIP2 Enterprise',
    { traits: { autonomous_system_number: 7, autonomous_system_organization: 'E' } },
    { asn: 7, organization: 'E' },
  ],
  [
    'IPinfo ASN',
    { asn: 'AS64500', domain: 'example.net', name: 'Example', route: '192.0.2.0/24' },
    { asn: 64500, organization: 'Example' },
  ],
  ['IPinfo Lite', { asn: 'AS1', as_name: 'One', country: 'x' }, { asn: 1, organization: 'One' }],
  ['IPinfo, nested as', { as: { asn: 'as1', name: 'One' } }, { asn: 1, organization: 'One' }],
  ['a bare number as text', { asn: '4294967295' }, { asn: 4294967295, organization: '' }],
  ['AS 0', { autonomous_system_number: 0 }, undefined],
  ['above 32 bits', { asn: 'AS4294967296' }, undefined],
  ['an empty ASN', { asn: '', name: '' }, undefined],
  ['an organization without ASN', { isp: 'X', organization: 'X' }, undefined],
  ['nothing', {}, undefined],
]

describe('networkOf', () => {
  it.each(networks)('%s', (_, record, found) => {
    expect(networkOf(record)).toEqual(found)
  })

  it('refuses a place and says what it knows', () => {
    const record = { city: 'Oslo', country_code: 'NO' }
    expect(() => networkOf(record)).toThrowError(
      /no known layout of networks\. Its members: city, country_code\..*GeoIP2.*IPinfo/,
    )
  })
})
