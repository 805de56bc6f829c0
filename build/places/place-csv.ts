// CSV and TSV files of places. A row becomes a record with the columns' names, which
// build/mmdb/mmdb-layouts.ts interprets. MaxMind's blocks refer to a second file:
// GeoLite2-City-Locations-en.csv.

import { inputError } from '../../src/base/coded-error.ts'
import { formatCounted } from '../../src/base/text/number-format.ts'
import { readBoundedFile } from '../../src/base/system/bounded-file.ts'
import { splitCsvLine } from '../../src/base/text/csv.ts'
import { flattenMostSpecific, newRangeColumns } from '../layer/most-specific.ts'
import { fieldTexts, readRangeFile } from '../parse/range-rows.ts'

type PlaceRecord = Readonly<Record<string, string>>
export type NumberedPlaces = ReadonlyMap<string, PlaceRecord>

/** For files without a header, by the number of columns after the range. */
const unnamed: Readonly<Record<number, readonly string[]>> = {
  1: ['country_code'],
  3: ['asn', 'country_code', 'as_name'],
  6: ['continent_code', 'country_code', 'state', 'city', 'latitude', 'longitude'],
  8: ['country_code', 'state', '', 'city', 'postcode', 'latitude', 'longitude', 'timezone'],
}

const layouts =
  'CSV with a header (IPinfo: network or start_ip and end_ip, country_code or country, city, region, ' +
  'lat, lng; MaxMind: the Blocks files with the Locations file), CSV or TSV without one ' +
  '(first, last, country: DB-IP, IPtoASN; first, last, continent, country, state, city, latitude, ' +
  'longitude: DB-IP), MMDB'

export const isNumberedPlaces = (path: string): boolean =>
  /-Locations-[a-z]{2}(?:-[a-z]{2})?\.csv$/i.test(path)

export function readNumberedPlaces(path: string): NumberedPlaces {
  const [head = '', ...lines] = readBoundedFile(path, { bytesMax: numberedBytesMax })
    .bytes.toString('utf8')
    .split('\n')
  const names = splitCsvLine(head, ',').values
  const records = lines.map((line) => recordOf(names, splitCsvLine(line, ',').values))
  return new Map(records.map((record) => [record['geoname_id'] ?? '', record]))
}

const decoder = new TextDecoder('latin1')

/** Four times the largest. */
const numberedBytesMax = 100_000_000

const recordOf = (names: readonly string[], values: readonly string[]): PlaceRecord =>
  Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))

/** Like walkMmdb: `idOf` returns a record's id, or 0 for no place. Throws `places_layout`. */
export async function readPlaceCsv(
  path: string,
  numbered: NumberedPlaces,
  idOf: (record: unknown) => number,
) {
  const columns = { 4: newRangeColumns(4), 6: newRangeColumns(6) }
  const ids = new Map<string, number>()
  let badCount = 0
  let sample = ''
  let names: readonly string[] = []
  let rowCount = 0
  const refuse = (why: string): never => {
    throw inputError('places_layout', `${path}: ${why}. Known layouts: ${layouts}.`)
  }
  await readRangeFile(path, {
    unnamed: (count) => unnamed[count] ?? refuse(`${count} columns after the range, and no header`),
    columns: (found) => {
      names = found
      const namesPlaces = names.some((one) => /^(?:country|city)(?:_|$)/.test(one))
      if (names.includes('geoname_id') && !namesPlaces && numbered.size === 0) {
        refuse('geoname_id needs the -Locations- file beside it; name that file, too')
      }
    },
    row: ({ family, first, last, bytes, fields }) => {
      const from = names[1] === '' ? 2 : 1
      const end = fields.ends[Math.min(fields.fieldCount, names.length) - 1]!
      // Most rows repeat another row's place.
      const key =
        names[0] === ''
          ? decoder.decode(bytes.subarray(fields.starts[from], end))
          : fieldTexts(bytes, fields)
              .map((text, at) => (names[at] === '' ? '' : text))
              .join('\0')
      let id = ids.get(key)
      if (id === undefined) {
        const record = recordOf(names, fieldTexts(bytes, fields))
        id = idOf({ ...numbered.get(record['geoname_id'] ?? ''), ...record })
        ids.set(key, id)
      }
      rowCount += 1
      if (id !== 0) columns[family].add(first, last, id)
      return undefined
    },
    problem: (place, problem) => {
      badCount += 1
      sample ||= `${place.slice(path.length + 1)}: ${problem}`
    },
  })
  const leftOut =
    badCount === 0 ? '' : `${formatCounted(badCount, 'row', 'rows')} left out, line ${sample}`
  if (rowCount <= badCount) refuse(leftOut || 'there is no row')
  const layerOf = (family: 4 | 6) => flattenMostSpecific(columns[family].ranges())
  return { layers: { 4: layerOf(4), 6: layerOf(6) }, recordCount: ids.size, leftOut }
}
