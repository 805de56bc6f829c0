// The JSON that a row of the table becomes in answers: the text of its run, which the build writes
// (build/write/run-section.ts) and verify-runs.ts holds to. How runs are copied: answer/json-fragments.ts.
// A place stands between the two runs of its region:
//
//   {"country_code":"DE", … ,"state":"Berlin","city":"   region, before
//   Mitte","zip":"10115","latitude":52.5,"longitude":13  location
//   ,"timezone":"Europe/Berlin", … ,"accuracy":"city"}   region, behind

import type { Location } from '../../api/check-answer.ts'
import type { Network } from '../../model/network.ts'
import type { Locality, Region } from './location-record.ts'

/** What an answer says of its network, from the comma before to the colon of `location`. */
export function networkJson({
  asn,
  organization,
  type,
  mobile,
}: Pick<Network, 'asn' | 'organization' | 'type' | 'mobile'>): string {
  return `,"network":${JSON.stringify({ asn, organization, type, mobile })},"location":`
}

/** From the brace to the quote before the city. */
export function beforeLocationJson({ country, state }: Region): string {
  const { country_code, continent_code, continent, country: name } = country
  const said = { country_code, continent_code, continent, country: name, state, city: '' }
  return JSON.stringify(said satisfies Partial<Location>).slice(0, -'"}'.length)
}

/** From the comma before the time zone to the brace. */
export function behindLocationJson({ country, timezone, accuracy }: Region): string {
  const said = { timezone, currency_code: country.currency_code, accuracy }
  return `,${JSON.stringify(said satisfies Partial<Location>).slice(1)}`
}

/** From the first character of the city to the last digit of the longitude. */
export function locationJson({ city, zip, latitude, longitude }: Locality): string {
  const said = { city, zip, latitude, longitude }
  return JSON.stringify(said).slice('{"city":"'.length, -1)
}
