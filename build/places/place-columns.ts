// Places in a form that a file keeps, and that a thread hands to another: locations as a column a
// member, each text once. A location becomes an object when it is asked for, as few of them are.

import type { Location } from '../../src/api/check-answer.ts'
import { newInterner } from '../layer/intern.ts'
import type { Places, ReadPlaces } from './read-places.ts'
import type { Locations } from './table-places.ts'

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
  /** In the order of `textMembers`, numbers of texts; then of `numberMembers`. */
  readonly textColumns: readonly Uint32Array[]
  readonly numberColumns: readonly Float64Array[]
}

export type PlaceColumns = Omit<Places, 'locations'> & { readonly columns: Columns }

export function columnsOfPlaces({ locations, ...rest }: ReadPlaces): PlaceColumns {
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

/**
 * The same, each array in memory of its own. Runs are part of what room was made for them, and out of
 * the cache all arrays are parts of one piece, with the layers.
 */
export function copyColumns<P extends Pick<PlaceColumns, 'columns' | 'runs'>>(places: P): P {
  const { columns, runs } = places
  return {
    ...places,
    runs: {
      runs: runs.runs.slice(),
      starts: runs.starts.slice(),
      regions: runs.regions.slice(),
    },
    columns: {
      ...columns,
      textColumns: columns.textColumns.map((column) => column.slice()),
      numberColumns: columns.numberColumns.map((column) => column.slice()),
    },
  }
}

/** The memory that they lie in, to be handed over. */
export function arraysOfColumns({
  columns,
  runs,
}: Pick<PlaceColumns, 'columns' | 'runs'>): readonly ArrayBufferView[] {
  return [...columns.textColumns, ...columns.numberColumns, ...Object.values(runs)]
}

function locationsOf({ texts, textColumns, numberColumns }: Columns): Locations {
  const [latitudes, longitudes] = numberColumns
  const at = (row: number): Location | undefined => {
    const [latitude, longitude] = [latitudes?.[row], longitudes?.[row]]
    if (latitude === undefined || longitude === undefined) return undefined
    const text = (column: number): string => texts[textColumns[column]![row]!]!
    return {
      country_code: text(0),
      continent_code: text(1),
      continent: text(2),
      country: text(3),
      state: text(4),
      city: text(5),
      zip: text(6),
      latitude,
      longitude,
      timezone: text(7),
      currency_code: text(8),
      accuracy: text(9) as Location['accuracy'],
    }
  }
  return { length: latitudes?.length ?? 0, at }
}
