// Places, from the cache where they were read before (build/cache/kept-reading.ts).

import { keptReading, type Reading } from '../cache/kept-reading.ts'
import type { Layers } from '../layer/layer.ts'
import { type PairedLayers, pairLayers } from '../layer/pair-layers.ts'
import { columnsOfPlaces, type PlaceColumns, placesOfColumns } from './place-columns.ts'
import { type Places, readPlaces } from './read-places.ts'

const reading = {
  kind: 'places',
  code: [
    '.',
    '../places',
    '../mmdb',
    '../layer',
    '../../src/base',
    '../../src/ip',
    '../../src/table/file',
  ],
  tables: ['data/tables/countries.csv'],
} as const satisfies Partial<Reading>

/** What `readPlaces` gives. Errors: those of readPlaces. */
export async function readPlacesCached(files: readonly string[], cache: string): Promise<Places> {
  return placesOfColumns(await readPlaceColumns(files, cache))
}

export async function readPlaceColumns(
  files: readonly string[],
  cache: string,
): Promise<PlaceColumns> {
  const known = await keptReading({ ...reading, files }, cache, async () =>
    columnsOfPlaces(await readPlaces(files)),
  )
  const stats = known.files.map((file, index) => ({ ...file, path: files[index]! }))
  return { ...known, files: stats }
}

// Places as a build joins them with its evidence: their layers laid over those of the networks.

/** Places in either form, with pairs in place of their layers. */
export type Paired<P extends Places | PlaceColumns> = Omit<P, 'layers'> & {
  readonly pairs: PairedLayers
}

export function pairPlaces<P extends Places | PlaceColumns>(
  places: P,
  networks: Layers,
): Paired<P> {
  const { layers, ...rest } = places
  return { ...rest, pairs: pairLayers(networks, layers) }
}
