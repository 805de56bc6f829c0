// A place's facts in the table. What places share is stored per country or region; the rest is JSON
// in runs, which answers copy (answer-writer.ts):
//
//   countries      code, continent code, continent, name, currency (strings)
//   regions        country id, state, time zone (strings), accuracy, run before, run behind
//   location run   its region, and the text of city, zip, latitude and longitude
//
//   {"country_code":"DE", … ,"state":"Berlin","city":"   region's run before
//   Mitte","zip":"10115","latitude":52.5,"longitude":13  location's run
//   ,"timezone":"Europe/Berlin", … ,"accuracy":"city"}   region's run behind
//
// Ids start at 1. The build writes the runs (build/write/text-sections.ts).

import type { Location } from '../../api/check-answer.ts'
import { accuracies } from '../../model/kind.ts'
import {
  countryWords,
  regionWords,
  runElementBytes,
  runElementWords,
} from '../../schema/table-layout.ts'
import type { SectionViews } from '../../schema/table-sections.ts'
import { damaged } from './table-corrupt.ts'
import { pagedCache, type Strings } from './string-section.ts'

/** Far more than any run has. */
const readBytesMax = 65_536
/** Real tables have 4,400 regions. */
const regionsMax = 16_384

type RegionViews = Pick<SectionViews, 'countries' | 'regions'>
type LocationViews = Pick<SectionViews, 'location_runs' | 'runs'>

export type Locality = Pick<Location, 'city' | 'zip' | 'latitude' | 'longitude'>
export type Region = Omit<Location, keyof Locality>
type Country = Omit<Region, 'state' | 'timezone' | 'accuracy'>

export function readCountry(countries: Uint32Array, id: number, strings: Strings): Country {
  const at = (id - 1) * countryWords
  return {
    country_code: strings.text(countries[at] ?? 0),
    continent_code: strings.text(countries[at + 1] ?? 0),
    continent: strings.text(countries[at + 2] ?? 0),
    country: strings.text(countries[at + 3] ?? 0),
    currency_code: strings.text(countries[at + 4] ?? 0),
  }
}

export function readRegion(
  { countries, regions }: RegionViews,
  id: number,
  strings: Strings,
): Region {
  const at = (id - 1) * regionWords
  return {
    ...readCountry(countries, regions[at] ?? 1, strings),
    state: strings.text(regions[at + 1] ?? 0),
    timezone: strings.text(regions[at + 2] ?? 0),
    accuracy: accuracies[regions[at + 3] ?? 2] ?? 'country',
  }
}

/** Words of texts, in the rows of countries and regions. */
const textWords = { country_code: 0, country: 3, state: 1, timezone: 2 } as const

/** Returns the string id of `member` for a location id, not 0. */
export function openPlaceString(
  views: LocationViews & RegionViews,
  member: keyof typeof textWords,
): (id: number) => number {
  const { countries, regions } = views
  const word = textWords[member]
  if (member === 'state' || member === 'timezone') {
    return (id) => regions[(regionOf(views, id) - 1) * regionWords + word] ?? 0
  }
  return (id) => countries[(countryOf(views, id) - 1) * countryWords + word] ?? 0
}

export const regionOf = ({ location_runs, runs }: LocationViews, id: number): number =>
  runs[location_runs[id - 1]! * runElementWords + 1]!

/** 0 if the location has none. */
export const countryOf = (
  views: LocationViews & Pick<SectionViews, 'regions'>,
  id: number,
): number => (id === 0 ? 0 : (views.regions[(regionOf(views, id) - 1) * regionWords] ?? 0))

export const runBytes = ({ runs }: Pick<SectionViews, 'runs'>): Buffer =>
  Buffer.from(runs.buffer, runs.byteOffset, runs.byteLength)

/** Where the text of location `id`, not 0, begins. */
export const locationTextAt = ({ location_runs }: LocationViews, id: number): number =>
  (location_runs[id - 1]! + 1) * runElementBytes

/** The parsed run of location `id`, not 0. Throws `table_corrupt`. */
export function readLocality(views: LocationViews, id: number, bytes = runBytes(views)): Locality {
  const run = (views.location_runs[id - 1] ?? 0) * runElementWords
  const length = views.runs[run] ?? 0
  if (length > readBytesMax) throw damaged(views.runs, 'runs', run, `it has ${length} bytes`)
  const from = locationTextAt(views, id)
  try {
    return JSON.parse(`{"city":"${bytes.toString('utf8', from, from + length)}}`) as Locality
  } catch {
    throw damaged(views.runs, 'runs', run, 'it is not a place')
  }
}

export function openLocations(
  views: RegionViews & LocationViews,
  strings: Strings,
): (id: number) => Location {
  const bytes = runBytes(views)
  const regions = views.regions.length / regionWords
  const regionAt = pagedCache({ ids: regions + 1, max: regionsMax }, (id) =>
    readRegion(views, id, strings),
  )
  return (id) => {
    const {
      country_code,
      continent_code,
      continent,
      country,
      state,
      timezone,
      currency_code,
      accuracy,
    } = regionAt(regionOf(views, id))
    const { city, zip, latitude, longitude } = readLocality(views, id, bytes)
    // Members by name: spreading took 7 us.
    // prettier-ignore
    return {
      country_code, continent_code, continent, country, state, city, zip, latitude, longitude,
      timezone, currency_code, accuracy,
    }
  }
}

/** From the brace to the quote before the city. */
export function beforeLocationJson(region: Region): string {
  const { country_code, continent_code, continent, country, state } = region
  const text = { country_code, continent_code, continent, country, state, city: '' }
  return JSON.stringify(text satisfies Partial<Location>).slice(0, -'"}'.length)
}

/** From the comma before the time zone to the brace. */
export function behindLocationJson({ timezone, currency_code, accuracy }: Region): string {
  const text = { timezone, currency_code, accuracy }
  return `,${JSON.stringify(text satisfies Partial<Location>).slice(1)}`
}

/** From the first character of the city to the last digit of the longitude. */
export const locationJson = ({ city, zip, latitude, longitude }: Locality): string =>
  JSON.stringify({ city, zip, latitude, longitude }).slice('{"city":"'.length, -1)
