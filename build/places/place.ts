// From a place as a record has it (build/mmdb/mmdb-layouts.ts) to a Location as the contract has
// it. Deliberately no gazetteer: text that a record lacks stays ''. Pure but for a memory of time
// zones by coordinates.
//
// Invariants: a Location's country is one of `countries`; its coordinates are on Earth, at most
// four decimals, never -0; the same raw place gives the same Location.

import lookUpTimezone from '@photostructure/tz-lookup'
import { cleanText } from '../../src/base/text/clean-text.ts'
import type { Location } from '../../src/api/check-answer.ts'
import { tableTextCharsMax } from '../../src/base/limits.ts'
import type { Accuracy } from '../../src/model/kind.ts'
import type { RawPlace } from '../mmdb/mmdb-layouts.ts'
import type { Country } from './countries.ts'
import { wholeTenThousandths } from './place-runs.ts'

/** A raw place's Location; undefined where its country is none that is known. */
export type PlaceResolver = (raw: RawPlace) => Location | undefined

export function newPlaceResolver(countries: ReadonlyMap<string, Country>): PlaceResolver {
  const timezoneAt = newTimezoneAt()
  return (written) => {
    const raw = cleanPlace(written)
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

/** Names are anybody's text; a name of nothing but what is cleaned away is none. */
function cleanPlace(raw: RawPlace): RawPlace {
  const [state, city, zip] = [cleanText(raw.state), cleanText(raw.city), cleanText(raw.zip)]
  return { ...raw, state, city, zip }
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
