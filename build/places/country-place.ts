// The country of a place as a place of its own: what is told of an address that is announced in
// many places at once. Its point is the country's reference point.

import lookUpTimezone from '@photostructure/tz-lookup'
import type { Location } from '../../src/api/check-answer.ts'
import { readCountries } from './countries.ts'

/**
 * Gives for a place's id (from 1; 0 is none) that of its country, which is added to `locations`
 * where it is not there yet.
 */
export function newCountryPlaces(locations: Location[]): (place: number) => number {
  const countries = readCountries()
  const ids = new Map<string, number>()
  return (place) => {
    const location = locations[place - 1]
    const country = location && countries.get(location.country_code)
    if (location === undefined || country === undefined) return place
    const known = ids.get(country.code)
    if (known !== undefined) return known
    const { latitude, longitude } = country
    const timezone = country.timezone || lookUpTimezone(latitude, longitude)
    const coarse = { state: '', city: '', zip: '', accuracy: 'country' as const }
    locations.push({
      ...location,
      ...coarse,
      latitude,
      longitude,
      timezone,
    })
    ids.set(country.code, locations.length)
    return locations.length
  }
}
