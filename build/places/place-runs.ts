// The run of each place (src/table/file/location-record.ts), and which places share a region. They
// depend only on the places, so they are made once for a month of tables.

import type { Location } from '../../src/api/check-answer.ts'
import { cleanText } from '../../src/base/text/clean-text.ts'
import { degreeScale } from '../../src/schema/table-layout.ts'
import { locationJson, type Region } from '../../src/table/file/location-record.ts'
import { newInterner } from '../layer/intern.ts'
import { newRunCollector } from '../layer/run-collector.ts'

export interface PlaceRuns {
  /** Concatenated runs; the facts of each, its region, are set later. */
  readonly runs: Uint32Array
  /** Keyed by location: the element at which its run begins. */
  readonly starts: Uint32Array
  /** Keyed by location: a number that all locations of one region share. */
  readonly regions: Uint32Array
}

/** Typical bytes per run. */
const bytesExpected = 80

export function makePlaceRuns(locations: readonly Location[]): PlaceRuns {
  const collector = newRunCollector(locations.length * bytesExpected)
  const regions = newInterner<Location>(regionKey, 0)
  const starts = Uint32Array.from(locations, (location) => collector.add(localityJson(location), 0))
  const regionOf = Uint32Array.from(locations, (location) => regions.id(location))
  return { runs: collector.runs(), starts, regions: regionOf }
}

export function localityJson({ city, zip, latitude, longitude }: Location): string {
  return locationJson({
    city: cleanText(city),
    zip: cleanText(zip),
    latitude: wholeTenThousandths(latitude),
    longitude: wholeTenThousandths(longitude),
  })
}

/** 37.422000885 becomes 37.422; `+ 0` turns -0 into 0. */
export const wholeTenThousandths = (degrees: number): number =>
  Math.round(degrees * degreeScale) / degreeScale + 0

export function regionKey(region: Region): string {
  const { country_code, continent_code, continent, country, currency_code } = region
  const { state, timezone, accuracy } = region
  const ofCountry = `${country_code}\n${continent_code}\n${continent}\n${country}\n${currency_code}`
  return `${ofCountry}\n${state}\n${timezone}\n${accuracy}`
}
