// The table's texts: strings by id, and runs (src/schema/FORMAT.md), the JSON of each network,
// region and location as in answers.

import type { Location } from '../../src/api/check-answer.ts'
import { cleanText } from '../../src/base/text/clean-text.ts'
import { accuracies } from '../../src/model/kind.ts'
import type { Network } from '../../src/model/network.ts'
import { countryWords, regionWords } from '../../src/schema/table-layout.ts'
import {
  beforeLocationJson,
  behindLocationJson,
  type Region,
} from '../../src/table/file/location-record.ts'
import { networkJson } from '../../src/table/file/network-record.ts'
import { newInterner } from '../layer/intern.ts'
import { newRunCollector } from '../layer/run-collector.ts'
import { localityJson, regionKey } from '../places/place-runs.ts'
import type { TablePlaces } from '../places/place.ts'

/** More than a network's run takes; unused memory costs nothing. */
const networkBytes = 160
/** Regions and added places take little. */
const otherBytes = 4 << 20

export type StringCollector = ReturnType<typeof newStringCollector>

/** Each text once, cleaned; id 0 is ''. */
export function newStringCollector() {
  const interner = newInterner<string>((text) => text, 0)
  interner.id('')
  return {
    id: interner.id,
    sections() {
      const encoded = interner.values.map((text) => Buffer.from(cleanText(text), 'utf8'))
      const offsets = new Uint32Array(encoded.length + 1)
      encoded.forEach((bytes, index) => {
        offsets[index + 1] = offsets[index]! + bytes.length
      })
      return { string_offsets: offsets, string_bytes: new Uint8Array(Buffer.concat(encoded)) }
    },
  }
}

/** Half a million places share regions and countries (location-record.ts). */
export function runSections(
  networks: readonly Network[],
  { read, runs: { runs, starts, regions: numbers }, added }: TablePlaces,
  strings: StringCollector,
) {
  const collector = newRunCollector(networks.length * networkBytes + runs.byteLength + otherBytes)
  const networkRuns = Uint32Array.from(networks, ({ asn, organization, type, mobile }) =>
    collector.add(networkJson({ asn, organization: cleanText(organization), type, mobile }), 0),
  )
  const regions = newInterner<Region>(regionKey, 1)
  const idOf: number[] = []
  const ofRead = numbers.map(
    (number, index) => (idOf[number] ??= regions.id(regionOf(read.at(index)!))),
  )
  const ofAdded = added.map((location) => regions.id(regionOf(location)))
  const countries = newInterner<readonly number[]>((words) => words.join(), 1)
  const rows = regions.values.map((region) => {
    const { country_code, continent_code, continent, country, currency_code } = region
    const words = [country_code, continent_code, continent, country, currency_code]
    return [
      countries.id(words.map(strings.id)),
      strings.id(region.state),
      strings.id(region.timezone),
      accuracies.indexOf(region.accuracy),
      collector.add(beforeLocationJson(region), 0),
      collector.add(behindLocationJson(region), 0),
    ]
  })
  const from = collector.append(runs)
  const locationRuns = new Uint32Array(starts.length + added.length)
  for (let index = 0; index < starts.length; index++) {
    locationRuns[index] = from + starts[index]!
    collector.setFacts(locationRuns[index]!, ofRead[index]!)
  }
  added.forEach((location, index) => {
    locationRuns[starts.length + index] = collector.add(localityJson(location), ofAdded[index]!)
  })
  return {
    network_runs: networkRuns,
    location_runs: locationRuns,
    countries: sectionOf(countries.values, countryWords),
    regions: sectionOf(rows, regionWords),
    runs: collector.runs(),
  }
}

const regionOf = (location: Location): Region => ({
  country_code: cleanText(location.country_code),
  continent_code: cleanText(location.continent_code),
  continent: cleanText(location.continent),
  country: cleanText(location.country),
  currency_code: cleanText(location.currency_code),
  state: cleanText(location.state),
  timezone: cleanText(location.timezone),
  accuracy: location.accuracy,
})

function sectionOf(rows: readonly (readonly number[])[], words: number): Uint32Array {
  const out = new Uint32Array(rows.length * words)
  rows.forEach((row, index) => out.set(row, index * words))
  return out
}
