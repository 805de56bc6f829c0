// The country of a place as a place of its own: what is told of an address that is announced in
// many places at once. Its point is the country's reference point.

import lookUpTimezone from '@photostructure/tz-lookup'
import type { Location } from '../../src/api/check-answer.ts'
import { readCountries } from './countries.ts'
import type { Locations } from './table-places.ts'

export interface CountryPlaces {
  /** For a place's id (from 1; 0 is none) that of its country. */
  readonly of: (place: number) => number
  /** Those that were asked for: their ids are behind those of the places. */
  readonly added: readonly Location[]
}

export function newCountryPlaces(places: Locations): CountryPlaces {
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
    const id =
      places.length +
      added.push({
        ...location,
        ...coarse,
        latitude,
        longitude,
        timezone,
      })
    ids.set(country.code, id)
    return id
  }
  return { of, added }
}
