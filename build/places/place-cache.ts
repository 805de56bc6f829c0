// Places, from the cache where they were read before (build/cache/kept-reading.ts).

import { type Reading, keptReading } from '../cache/kept-reading.ts'
import { type PlaceColumns, columnsOfPlaces, placesOfColumns } from './place-columns.ts'
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
