// From a place as a record has it (build/mmdb/mmdb-layouts.ts) to a Location as the contract has
// it. Deliberately no gazetteer: text that a record lacks stays ''. Pure but for a memory of time
// zones by coordinates.
//
// Invariants: a Location's country is one of `countries`; its coordinates are on Earth, at most
// four decimals, never -0; the same raw place gives the same Location.

import lookUpTimezone from '@photostructure/tz-lookup'
import type { Location } from '../../src/api/check-answer.ts'
import { tableTextCharsMax } from '../../src/base/limits.ts'
import { cleanText } from '../../src/base/text/clean-text.ts'
import type { Accuracy } from '../../src/model/kind.ts'
import type { RawPlace } from '../mmdb/mmdb-layouts.ts'
import { type Country, readCountries } from './countries.ts'
import { type PlaceRuns, wholeTenThousandths } from './place-runs.ts'

/** Gives a raw place's Location; undefined where its country is none that is known. */
export function newPlaceResolver(
  countries: ReadonlyMap<string, Country>,
): (raw: RawPlace) => Location | undefined {
  const timezoneAt = newTimezoneAt()
  return (written) => {
    // Names are anybody's text; a name of nothing but what is cleaned away is none.
    const { state, city, zip } = written
    const raw = {
      ...written,
      state: cleanText(state),
      city: cleanText(city),
      zip: cleanText(zip),
    }
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
 * Coordinates and how exact they are. Accuracy speaks of the point: a city without coordinates has
 * the country's reference point, and so the accuracy of a country.
 */
function pointOf(
  raw: RawPlace,
  country: Country,
): Pick<Location, 'latitude' | 'longitude' | 'accuracy'> {
  const { latitude, longitude } = raw
  // 0,0 lies in the Gulf of Guinea; where a record has it, its publisher did not know the place.
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
    accuracy: accuracyOf(raw),
  }
}

function accuracyOf(raw: RawPlace): Accuracy {
  if (raw.city !== '') return 'city'
  return raw.state === '' ? 'country' : 'region'
}

const zonePattern = /^[A-Za-z]+(?:\/[A-Za-z0-9_+-]+)+$/

/** The zone that a record states, if it is an IANA name; some layouts state an offset, `-08:00`. */
function zoneOf(written: string): string {
  const isZone = written.length <= tableTextCharsMax && zonePattern.test(written)
  return isZone ? written : ''
}

/** Looking up a zone costs more than a Map; cities repeat in tens of thousands of records. */
function newTimezoneAt(): (latitude: number, longitude: number) => string {
  const zones = new Map<number, string>()
  return (latitude, longitude) => {
    // Ten-thousandths of a degree, both counted from 0: one safe integer for each point.
    const key = Math.round((latitude + 90) * 1e4) * 3_600_001 + Math.round((longitude + 180) * 1e4)
    let zone = zones.get(key)
    if (zone === undefined) {
      zone = lookUpTimezone(latitude, longitude)
      zones.set(key, zone)
    }
    return zone
  }
}

/** Locations that are made when they are asked for; an array of them is one, too. */
export interface Locations {
  readonly length: number
  at(index: number): Location | undefined
}

/**
 * The places of a table that is being made: those that were read (id n at n - 1), and behind them
 * those that its verdicts add.
 */
export interface TablePlaces {
  readonly read: Locations
  readonly runs: PlaceRuns
  readonly added: readonly Location[]
}

/**
 * The country of a place as a place of its own: what is told of an address that is announced in
 * many places at once. Its point is the country's reference point. `of` gives for a place's id
 * (from 1; 0 is none) that of its country; those that were `added` have ids behind those of
 * `places`.
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
