// Regions and countries of the table (src/table/file/location-record.ts): what half a million
// places share with others.

import type { Location } from '../../src/api/check-answer.ts'
import { cleanText } from '../../src/base/text/clean-text.ts'
import { accuracies } from '../../src/model/kind.ts'
import { countryWords, regionWords } from '../../src/schema/table-layout.ts'
import type { Region } from '../../src/table/file/location-record.ts'
import { beforeLocationJson, behindLocationJson } from '../../src/table/file/row-json.ts'
import { newInterner } from '../layer/intern.ts'
import { regionKey } from '../places/place-runs.ts'
import type { TablePlaces } from '../places/table-places.ts'

export interface RegionCollector {
  /** The section `countries`. */
  readonly countries: Uint32Array
  /** Of each place that was read, and of each that was added, from 1. */
  readonly ofRead: Uint32Array
  readonly ofAdded: Uint32Array
  /** The section `regions`; `addRun` puts a text into a run and gives its place. */
  readonly rows: (addRun: (text: string) => number) => Uint32Array
}

export function collectRegions(
  { read, runs, added }: TablePlaces,
  strings: StringCollector,
): RegionCollector {
  const regions = newInterner<Region>(keyOf, 1)
  const idOf: number[] = []
  const ofRead = runs.regions.map(
    (number, index) => (idOf[number] ??= regions.id(regionOf(read.at(index)!))),
  )
  const ofAdded = Uint32Array.from(added, (location) => regions.id(regionOf(location)))
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
    ofRead,
    ofAdded,
    rows: (addRun) => {
      const texts = regions.values.map((region) => [
        addRun(beforeLocationJson(region)),
        addRun(behindLocationJson(region)),
      ])
      return sectionOf(
        rows.map((row, index) => [...row, ...texts[index]!]),
        regionWords,
      )
    },
  }
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

function keyOf({ country, ...rest }: Region): string {
  return regionKey({ ...country, ...rest })
}

function sectionOf(rows: readonly (readonly number[])[], words: number): Uint32Array {
  const out = new Uint32Array(rows.length * words)
  rows.forEach((row, index) => out.set(row, index * words))
  return out
}

/**
 * Collects the table's texts: each once, id 0 is ''. Whatever a text is made of, it is clean and
 * short in the table.
 */
export interface StringCollector {
  id(text: string): number
  sections(): { readonly offsets: Uint32Array; readonly bytes: Uint8Array }
}

export function newStringCollector(): StringCollector {
  const interner = newInterner<string>((text) => text, 0)
  interner.id('')
  return {
    id: (text) => interner.id(text),
    sections() {
      const encoded = interner.values.map((text) => Buffer.from(cleanText(text), 'utf8'))
      const offsets = new Uint32Array(encoded.length + 1)
      encoded.forEach((bytes, index) => {
        offsets[index + 1] = offsets[index]! + bytes.length
      })
      return { offsets, bytes: new Uint8Array(Buffer.concat(encoded)) }
    },
  }
}
