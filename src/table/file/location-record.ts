// A location's words in the table, and back. Country facts are stored once a country:
//
//   countries: code, continent code, continent, name, currency (strings)
//   locations: country id, state, city, zip (strings), latitude, longitude (ten-thousandths of a
//              degree), time zone (string), accuracy
//
// Ids start at 1.

import type { Location } from '../../api/check-answer.ts'
import { accuracies } from '../../model/kind.ts'
import { countryWords, degreeScale, locationWords } from '../../schema/table-layout.ts'
import type { Strings } from './string-section.ts'

/** Whole ten-thousandths of a degree. */
export function packDegrees(degrees: number): number {
  return Math.round(degrees * degreeScale)
}

/** What a country id stands for; members in the order of the answer. */
export function readCountry(
  countries: Uint32Array,
  id: number,
  strings: Strings,
): Pick<Location, 'country_code' | 'continent_code' | 'continent' | 'country' | 'currency_code'> {
  const at = (id - 1) * countryWords
  return {
    country_code: strings.text(countries[at] ?? 0),
    continent_code: strings.text(countries[at + 1] ?? 0),
    continent: strings.text(countries[at + 2] ?? 0),
    country: strings.text(countries[at + 3] ?? 0),
    currency_code: strings.text(countries[at + 4] ?? 0),
  }
}

/** Words of a location, and of its country, that are strings. */
const locationTexts = { state: 1, city: 2, zip: 3, timezone: 6 } as const
const countryTexts = { country_code: 0, country: 3 } as const

export type LocationTextField = keyof typeof locationTexts | keyof typeof countryTexts

/** Finds the string id of one member, to copy its bytes; ids as for `readLocation`. */
export function locationStringFinder(
  views: { readonly countries: Uint32Array; readonly locations: Int32Array },
  member: LocationTextField,
): (id: number) => number {
  const { countries, locations } = views
  if (member === 'country_code' || member === 'country') {
    const word = countryTexts[member]
    return (id) => {
      const country = locations[(id - 1) * locationWords] ?? 1
      return countries[(country - 1) * countryWords + word] ?? 0
    }
  }
  const word = locationTexts[member]
  return (id) => locations[(id - 1) * locationWords + word] ?? 0
}

/** What a location says itself, without its country; members in the order of the answer. */
export type Locality = Pick<
  Location,
  'state' | 'city' | 'zip' | 'latitude' | 'longitude' | 'timezone'
>

/** `id` must be a location id of the table, not 0. */
export function readLocality(locations: Int32Array, id: number, strings: Strings): Locality {
  const at = (id - 1) * locationWords
  return {
    state: strings.text(locations[at + 1] ?? 0),
    city: strings.text(locations[at + 2] ?? 0),
    zip: strings.text(locations[at + 3] ?? 0),
    latitude: (locations[at + 4] ?? 0) / degreeScale,
    longitude: (locations[at + 5] ?? 0) / degreeScale,
    timezone: strings.text(locations[at + 6] ?? 0),
  }
}

/** `id` must be a location id of the table, not 0. */
export function readLocation(
  views: { readonly countries: Uint32Array; readonly locations: Int32Array },
  id: number,
  strings: Strings,
): Location {
  const { countries, locations } = views
  const at = (id - 1) * locationWords
  const country = readCountry(countries, locations[at] ?? 1, strings)
  const place = readLocality(locations, id, strings)
  // Members by name: spreads took 7 us here.
  return {
    country_code: country.country_code,
    continent_code: country.continent_code,
    continent: country.continent,
    country: country.country,
    state: place.state,
    city: place.city,
    zip: place.zip,
    latitude: place.latitude,
    longitude: place.longitude,
    timezone: place.timezone,
    currency_code: country.currency_code,
    accuracy: accuracies[locations[at + 7] ?? 2] ?? 'country',
  }
}
