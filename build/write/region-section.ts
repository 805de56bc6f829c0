// Regions and countries of the table (src/table/file/location-record.ts): what half a million
// places share with others.

import type { Location } from '../../src/api/check-answer.ts'
import { cleanText } from '../../src/base/text/clean-text.ts'
import { accuracies } from '../../src/model/kind.ts'
import { countryWords, regionWords } from '../../src/schema/table-layout.ts'
import type { Region } from '../../src/table/file/location-record.ts'
import { beforeLocationJson, behindLocationJson } from '../../src/table/file/row-json.ts'
import { newInterner } from '../layer/intern.ts'
import type { StringCollector } from './string-collector.ts'

export interface RegionCollector {
  /** The section `countries`. */
  readonly countries: Uint32Array
  /** Of each location, from 1. */
  readonly ofLocation: Uint32Array
  /** The section `regions`; `addRun` puts a text into a run and gives its place. */
  readonly rows: (addRun: (text: string) => number) => Uint32Array
}

export function collectRegions(
  locations: readonly Location[],
  strings: StringCollector,
): RegionCollector {
  const regions = newInterner<Region>(keyOf, 1)
  const idOfRaw = new Map<string, number>()
  // Texts are cleaned once a region, not once a place.
  const ofLocation = Uint32Array.from(locations, (location) => {
    const raw = rawKeyOf(location)
    const known = idOfRaw.get(raw)
    if (known !== undefined) return known
    const id = regions.id(regionOf(location))
    idOfRaw.set(raw, id)
    return id
  })
  const countries = newInterner<readonly number[]>((words) => words.join(), 1)
  const rows = regions.values.map(({ country, state, timezone, accuracy }) => [
    countries.id([
      strings.id(country.country_code),
      strings.id(country.continent_code),
      strings.id(country.continent),
      strings.id(country.country),
      strings.id(country.currency_code),
    ]),
    strings.id(state),
    strings.id(timezone),
    accuracies.indexOf(accuracy),
  ])
  return {
    countries: sectionOf(countries.values, countryWords),
    ofLocation,
    rows: (addRun) => {
      const runs = regions.values.map((region) => [
        addRun(beforeLocationJson(region)),
        addRun(behindLocationJson(region)),
      ])
      return sectionOf(
        rows.map((row, index) => [...row, ...runs[index]!]),
        regionWords,
      )
    },
  }
}

function rawKeyOf(location: Location): string {
  const { country_code, continent_code, continent, country, currency_code } = location
  const { state, timezone, accuracy } = location
  return `${country_code}\n${continent_code}\n${continent}\n${country}\n${currency_code}\n${state}\n${timezone}\n${accuracy}`
}

function regionOf(location: Location): Region {
  return {
    country: {
      country_code: cleanText(location.country_code),
      continent_code: cleanText(location.continent_code),
      continent: cleanText(location.continent),
      country: cleanText(location.country),
      currency_code: cleanText(location.currency_code),
    },
    state: cleanText(location.state),
    timezone: cleanText(location.timezone),
    accuracy: location.accuracy,
  }
}

function keyOf({ country, state, timezone, accuracy }: Region): string {
  return [...Object.values(country), state, timezone, accuracy].join('\n')
}

function sectionOf(rows: readonly (readonly number[])[], words: number): Uint32Array {
  const out = new Uint32Array(rows.length * words)
  rows.forEach((row, index) => out.set(row, index * words))
  return out
}
