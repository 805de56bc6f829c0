// What the members of a decoded record mean, in the layouts that publishers of places and networks
// use. Returns trimmed text as written; build/places validates it. Members are tested one by one,
// because files of one publisher differ by product and omit what is unknown.
//
// Places
//   GeoIP2      nested: country.iso_code, city.names.en, subdivisions[0].names.en, postal.code,
//               location.{latitude, longitude, time_zone}. GeoLite2 and GeoIP2 City, Country and
//               Enterprise; DB-IP's own files; IP2Location's MMDB.
//   flat        country_code or country (a code), city, then by publisher
//               @ip-location-db  state1, postcode, latitude, longitude, timezone
//               IPinfo           region, postal | postal_code | zip, lat and lng | loc, timezone;
//                                numbers as text; `country` is a name beside `country_code`
//   IPinfo geo  the flat members inside `geo`
// Networks
//   GeoIP2      autonomous_system_number and _organization, at the top or in `traits`:
//               GeoLite2-ASN, GeoIP2 ISP and Enterprise, DB-IP ASN, @ip-location-db/asn-mmdb.
//   IPinfo      asn ("AS123" or a number), as_name | name; or both inside `as`

import { type IpriskError, inputError } from '../../src/base/coded-error.ts'

/** '' and undefined if the record has no such member. */
export interface RawPlace {
  /** Upper case; ISO 3166-1 alpha-2 in most records. */
  readonly country: string
  readonly state: string
  readonly city: string
  readonly zip: string
  readonly latitude: number | undefined
  readonly longitude: number | undefined
  readonly timezone: string
}

type Members = Readonly<Record<string, unknown>>

const nestedPlaceMembers =
  'country registered_country represented_country continent city location subdivisions postal traits'.split(
    ' ',
  )

const countryMembers = ['country_code', 'country', 'country_iso_code'] as const
const stateMembers = ['state1', 'region', 'region_name', 'state', 'subdivision_1_name'] as const
const cityMembers = ['city', 'city_name'] as const
const zipMembers = ['postcode', 'postal', 'postal_code', 'zip', 'zip_code'] as const
const latitudeMembers = ['latitude', 'lat'] as const
const longitudeMembers = ['longitude', 'lng', 'lon'] as const
const timezoneMembers = ['timezone', 'time_zone'] as const
/** Any of these makes a record flat, even without a country. */
const flatPlaceMembers = [
  ...countryMembers,
  ...stateMembers,
  ...cityMembers,
  ...zipMembers,
  ...latitudeMembers,
  ...timezoneMembers,
  'loc',
  'continent',
  'continent_code',
] as const
const nameMembers = 'as_name name asn_name as_organization organization org'.split(' ')

/** Members of network files, whose records omit an unknown ASN. */
const mayLackAsn = [
  'traits',
  'isp',
  'organization',
  'autonomous_system_organization',
  'as_name',
  'as_domain',
  'continent_code',
] as const

const layouts = {
  places:
    'GeoIP2 (country.iso_code, city.names, location); ' +
    'flat (country_code or country, city, state1 or region, latitude or lat or loc); ' +
    'IPinfo (the flat members inside geo)',
  networks:
    'GeoIP2 (autonomous_system_number, autonomous_system_organization); ' +
    'IPinfo (asn, as_name or name)',
} as const

/**
 * `undefined` if the record names no country; a registration country is not a location. Throws
 * `mmdb_layout_unknown`.
 */
export function locationOf(record: unknown): RawPlace | undefined {
  const members = membersOf(record)
  if (members === undefined) throw unknownLayout(record, 'places')
  if (nestedPlaceMembers.some((name) => isNested(members[name]))) return nestedPlace(members)
  const geo = membersOf(members['geo'])
  if (geo !== undefined) return flatPlace(geo)
  if (flatPlaceMembers.some((name) => name in members)) return flatPlace(members)
  if (Object.keys(members).length === 0) return undefined
  throw unknownLayout(record, 'places')
}

/** `undefined` if the record names no ASN. Throws `mmdb_layout_unknown`. */
export function networkOf(record: unknown) {
  const members = membersOf(record)
  if (members === undefined) throw unknownLayout(record, 'networks')
  for (const holder of [members, membersOf(members['traits'])]) {
    if (holder !== undefined && 'autonomous_system_number' in holder) {
      const organization = textOf(holder, ['autonomous_system_organization'])
      return networkFrom(holder['autonomous_system_number'], organization)
    }
  }
  for (const holder of [members, membersOf(members['as'])]) {
    if (holder !== undefined && 'asn' in holder) {
      return networkFrom(holder['asn'], textOf(holder, nameMembers))
    }
  }
  if (Object.keys(members).length === 0 || mayLackAsn.some((name) => name in members)) {
    return undefined
  }
  throw unknownLayout(record, 'networks')
}

function nestedPlace(members: Members): RawPlace | undefined {
  const country = textOf(membersOf(members['country']), ['iso_code']).toUpperCase()
  if (country === '') return undefined
  const subdivisions = members['subdivisions']
  const subdivision: unknown = Array.isArray(subdivisions) ? subdivisions[0] : undefined
  const location = membersOf(members['location'])
  return {
    country,
    state: englishName(subdivision),
    city: englishName(members['city']),
    zip: textOf(membersOf(members['postal']), ['code']),
    latitude: numberOf(location, latitudeMembers),
    longitude: numberOf(location, longitudeMembers),
    timezone: textOf(location, timezoneMembers),
  }
}

function flatPlace(members: Members): RawPlace | undefined {
  const country = textOf(members, countryMembers).toUpperCase()
  if (country === '') return undefined
  const [latitude, longitude] = textOf(members, ['loc']).split(',').map(toNumber)
  return {
    country,
    state: textOf(members, stateMembers),
    city: textOf(members, cityMembers),
    zip: textOf(members, zipMembers),
    latitude: numberOf(members, latitudeMembers) ?? latitude,
    longitude: numberOf(members, longitudeMembers) ?? longitude,
    timezone: textOf(members, timezoneMembers),
  }
}

function networkFrom(written: unknown, organization: string) {
  const digits = typeof written === 'string' ? written.trim().replace(/^AS/i, '') : written
  const asn = toNumber(digits)
  // AS numbers have 32 bits; 0 is reserved (RFC 7607).
  if (asn === undefined || !Number.isInteger(asn) || asn < 1 || asn > 0xffff_ffff) return undefined
  return { asn, organization }
}

const membersOf = (value: unknown): Members | undefined =>
  isNested(value) && !Array.isArray(value) ? (value as Members) : undefined

const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null

const englishName = (place: unknown): string =>
  textOf(membersOf(membersOf(place)?.['names']), ['en'])

/** The first of these members that is a non-empty text, or ''. */
function textOf(members: Members | undefined, names: readonly string[]): string {
  for (const name of names) {
    const value = members?.[name]
    if (typeof value !== 'string') continue
    const text = value.trim()
    if (text !== '') return text
  }
  return ''
}

function numberOf(members: Members | undefined, names: readonly string[]): number | undefined {
  for (const name of names) {
    const number = toNumber(members?.[name])
    if (number !== undefined) return number
  }
  return undefined
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === 'string') {
    return /^\s*[+-]?\d+(\.\d*)?\s*$/.test(value) ? Number(value) : undefined
  }
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

function unknownLayout(record: unknown, what: keyof typeof layouts): IpriskError {
  const members = membersOf(record)
  const found =
    members === undefined ? `it is not a map but ${typeof record}` : Object.keys(members).join(', ')
  return inputError(
    'mmdb_layout_unknown',
    `this record has no known layout of ${what}. Its members: ${found.slice(0, 400)}. ` +
      `Known layouts: ${layouts[what]}. Name a file of one of these.`,
  )
}
