// From a record's place (build/mmdb/mmdb-layouts.ts) to a Location of the contract. Missing text
// stays ''. The country is one of `countries`; coordinates are on Earth, with at most four decimals
// and no -0; equal inputs give equal Locations.

import lookUpTimezone from '@photostructure/tz-lookup'
import type { Location } from '../../src/api/check-answer.ts'
import { tableTextCharsMax } from '../../src/base/limits.ts'
import { cleanText } from '../../src/base/text/clean-text.ts'
import type { RawPlace } from '../mmdb/mmdb-layouts.ts'
import { type Country, readCountries } from './countries.ts'
import { type PlaceRuns, wholeTenThousandths } from './place-runs.ts'

/** Returns undefined for an unknown country. */
export function newPlaceResolver(
  countries: ReadonlyMap<string, Country>,
): (raw: RawPlace) => Location | undefined {
  const timezoneAt = newTimezoneAt()
  return (written) => {
    // Names are foreign text.
    const { state, city, zip } = written
    const raw = { ...written, state: cleanText(state), city: cleanText(city), zip: cleanText(zip) }
    const country = countries.get(raw.country)
    if (country === undefined) return undefined
    const { latitude, longitude, accuracy } = pointOf(raw, country)
    return {
      country_code: country.code,
      continent_code: country.continentCode,
      continent: country.continent,
      country: country.name,
      state: raw.state,
      city: raw.city,
      zip: raw.zip,
      latitude,
      longitude,
      timezone: zoneOf(raw.timezone) || country.timezone || timezoneAt(latitude, longitude),
      currency_code: country.currency,
      accuracy,
    }
  }
}

/**
 * Coordinates and their accuracy. A city without coordinates has the country's reference point and
 * a country's accuracy.
 */
function pointOf(
  raw: RawPlace,
  country: Country,
): Pick<Location, 'latitude' | 'longitude' | 'accuracy'> {
  const { latitude, longitude } = raw
  // 0,0 is in the Gulf of Guinea and means that the publisher did not know.
  const known =
    latitude !== undefined &&
    longitude !== undefined &&
    Math.abs(latitude) <= 90 &&
    Math.abs(longitude) <= 180 &&
    (latitude !== 0 || longitude !== 0)
  if (!known) {
    return { latitude: country.latitude, longitude: country.longitude, accuracy: 'country' }
  }
  return {
    latitude: wholeTenThousandths(latitude),
    longitude: wholeTenThousandths(longitude),
    accuracy: raw.city !== '' ? 'city' : raw.state !== '' ? 'region' : 'country',
  }
}

const zonePattern = /^[A-Za-z]+(?:\/[A-Za-z0-9_+-]+)+$/

/** The record's zone if it is an IANA name; some layouts have an offset, `-08:00`. */
function zoneOf(written: string): string {
  const isZone = written.length <= tableTextCharsMax && zonePattern.test(written)
  return isZone ? written : ''
}

/** Cached: looking up a zone is slow, and cities repeat in tens of thousands of records. */
function newTimezoneAt(): (latitude: number, longitude: number) => string {
  const zones = new Map<number, string>()
  return (latitude, longitude) => {
    // Ten-thousandths of a degree from 0: one safe integer per point.
    const key = Math.round((latitude + 90) * 1e4) * 3_600_001 + Math.round((longitude + 180) * 1e4)
    let zone = zones.get(key)
    if (zone === undefined) {
      zone = lookUpTimezone(latitude, longitude)
      zones.set(key, zone)
    }
    return zone
  }
}

/** An array of locations, or one that makes them on demand. */
export interface Locations {
  readonly length: number
  at(index: number): Location | undefined
}

/**
 * The places of a table in the making: those read (id n at n - 1), then those that verdicts add.
 */
export interface TablePlaces {
  readonly read: Locations
  readonly runs: PlaceRuns
  readonly added: readonly Location[]
}

/**
 * Places of countries, for anycast addresses, at the country's reference point. `of` maps a place's
 * id (from 1; 0 is none) to its country's; ids of `added` follow those of `places`.
 */
export function newCountryPlaces(places: Locations) {
  const countries = readCountries()
  const ids = new Map<string, number>()
  const added: Location[] = []
  const of = (place: number): number => {
    const location = place === 0 ? undefined : places.at(place - 1)
    const country = location && countries.get(location.country_code)
    if (location === undefined || country === undefined) return place
    const known = ids.get(country.code)
    if (known !== undefined) return known
    const { latitude, longitude } = country
    const timezone = country.timezone || lookUpTimezone(latitude, longitude)
    const coarse = { state: '', city: '', zip: '', accuracy: 'country' as const }
    const point = { latitude, longitude, timezone }
    const id = places.length + added.push({ ...location, ...coarse, ...point })
    ids.set(country.code, id)
    return id
  }
  return { of, added }
}
