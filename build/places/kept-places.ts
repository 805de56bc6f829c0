// Places for a cache file (build/layer/reading-cache.ts) or another thread: a column per member,
// each text once. Locations become objects on demand, since few are needed.

import type { Location } from '../../src/api/check-answer.ts'
import { keptReading, type Reading } from '../layer/reading-cache.ts'
import { newInterner } from '../layer/intern.ts'
import type { Layers } from '../layer/layer.ts'
import { type PairedLayers, pairLayers } from '../layer/overlay.ts'
import { type Places, type ReadPlaces, readPlaces } from './read-places.ts'
import type { Locations } from './place.ts'

const numberMembers = ['latitude', 'longitude'] as const
const textMembers = [
  'country_code',
  'continent_code',
  'continent',
  'country',
  'state',
  'city',
  'zip',
  'timezone',
  'currency_code',
  'accuracy',
] as const satisfies readonly (keyof Location)[]

interface Columns {
  readonly texts: readonly string[]
  /** In the order of `textMembers`, as numbers of texts. */
  readonly textColumns: readonly Uint32Array[]
  readonly numberColumns: readonly Float64Array[]
}

export type PlaceColumns = Omit<Places, 'locations'> & { readonly columns: Columns }

function columnsOfPlaces({ locations, ...rest }: ReadPlaces): PlaceColumns {
  const texts = newInterner<string>((text) => text, 0)
  const textColumns = textMembers.map((member) =>
    Uint32Array.from(locations, (location) => texts.id(location[member])),
  )
  const numberColumns = numberMembers.map((member) =>
    Float64Array.from(locations, (location) => location[member]),
  )
  return { ...rest, columns: { texts: texts.values, textColumns, numberColumns } }
}

export function placesOfColumns<P extends { readonly columns: Columns }>({
  columns,
  ...rest
}: P): Omit<P, 'columns'> & Pick<Places, 'locations'> {
  return { ...rest, locations: locationsOf(columns) }
}

/** Copies each array into its own memory, because out of the cache all share one buffer. */
export function copyColumns<P extends Pick<PlaceColumns, 'columns' | 'runs'>>(places: P): P {
  const { columns, runs } = places
  return {
    ...places,
    runs: { runs: runs.runs.slice(), starts: runs.starts.slice(), regions: runs.regions.slice() },
    columns: {
      ...columns,
      textColumns: columns.textColumns.map((column) => column.slice()),
      numberColumns: columns.numberColumns.map((column) => column.slice()),
    },
  }
}

/** Their memory, for a transfer. */
export function arraysOfColumns({
  columns,
  runs,
}: Pick<PlaceColumns, 'columns' | 'runs'>): readonly ArrayBufferView[] {
  return [...columns.textColumns, ...columns.numberColumns, ...Object.values(runs)]
}

function locationsOf({ texts, textColumns, numberColumns }: Columns): Locations {
  const length = numberColumns[0]?.length ?? 0
  const at = (row: number): Location | undefined => {
    if (row >= length) return undefined
    const members = [
      ...textMembers.map((member, at) => [member, texts[textColumns[at]![row]!]!]),
      ...numberMembers.map((member, at) => [member, numberColumns[at]![row]!]),
    ]
    return Object.fromEntries(members) as Location
  }
  return { length, at }
}

const reading = {
  kind: 'places',
  code: [
    '../places',
    '../mmdb',
    '../layer',
    '../parse',
    '../../src/base',
    '../../src/ip',
    '../../src/table/file',
  ],
  tables: ['data/tables/countries.csv'],
} as const satisfies Partial<Reading>

/** `readPlaces`, cached. Throws its errors. */
export const readPlacesCached = async (files: readonly string[], cache: string): Promise<Places> =>
  placesOfColumns(await readPlaceColumns(files, cache))

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

/** Places, with their layers laid over those of the networks. */
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
