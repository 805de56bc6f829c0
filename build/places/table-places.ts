// The places of a table that is being made: those that were read, and behind them those that its
// verdicts add (`newCountryPlaces`).

import lookUpTimezone from '@photostructure/tz-lookup'
import type { Location } from '../../src/api/check-answer.ts'
import { readCountries } from './countries.ts'
import type { PlaceRuns } from './place-runs.ts'

/** Locations that are made when they are asked for; an array of them is one, too. */
export interface Locations {
  readonly length: number
  at(index: number): Location | undefined
}

/** Id n of `read` is at n - 1; `added` go on behind. */
export interface TablePlaces {
  readonly read: Locations
  readonly runs: PlaceRuns
  readonly added: readonly Location[]
}

/**
 * The country of a place as a place of its own: what is told of an address that is announced in
 * many places at once. Its point is the country's reference point.
 */
interface CountryPlaces {
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
