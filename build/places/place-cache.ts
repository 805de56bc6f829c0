// What reading the files of places gave, kept on disk: they change once a month, tables are built
// every hour, and reading them is a third of a first build. A file in the cache is named by the hash
// of all that its content follows from: the place files, the code and the tables that read them. So
// it is right or absent, and may be deleted at any time.
//
//   <cache>/places-<hash>.bin     hash of the rest (SHA-256, 32 bytes), Places as v8.serialize has
//                                 them: locations as a column a member, texts once

import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import type { Location } from '../../src/api/check-answer.ts'
import { msPerDay } from '../../src/base/day.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { type Places, readPlaces } from './read-places.ts'

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

/** Places in a form that a file keeps, and that a thread hands to another. */
export type PlaceColumns = Omit<Places, 'locations'> & { readonly columns: Columns }

const hashBytes = 32
/** What stays free of the disk: the table and the day's feeds come first. */
const spareBytes = 2 ** 30
/** An edition in use, and the one before, to which a rollback goes. */
const keptFiles = 2

/**
 * What `readPlaces` gives, from `cache` where it has been read before. Errors: those of readPlaces.
 * A cache that cannot be read or written costs time, nothing else.
 */
export async function readPlacesCached(files: readonly string[], cache: string): Promise<Places> {
  return placesOf(await readPlaceColumns(files, cache))
}

export async function readPlaceColumns(
  files: readonly string[],
  cache: string,
): Promise<PlaceColumns> {
  const name = `places-${keyOf(files)}.bin`
  const known = load(join(cache, name))
  if (known !== undefined) {
    const stats = known.files.map((file, index) => ({ ...file, path: files[index]! }))
    return { ...known, files: stats }
  }
  const { locations, ...rest } = await readPlaces(files)
  const places = { ...rest, columns: columnsOf(locations) }
  save(cache, name, places)
  return places
}

export function placesOf({ columns, ...rest }: PlaceColumns): Places {
  return { ...rest, locations: locationsOf(columns) }
}

function load(path: string): PlaceColumns | undefined {
  try {
    const bytes = readFileSync(path)
    const content = bytes.subarray(hashBytes)
    if (!hashOf([content]).equals(bytes.subarray(0, hashBytes))) return undefined
    return deserialize(content) as PlaceColumns
  } catch {
    // Not there, or cut off: it is read anew, and written over.
    return undefined
  }
}

function save(cache: string, name: string, places: PlaceColumns): void {
  const content = serialize(places)
  const draft = join(cache, `${name}.${process.pid}.tmp`)
  // A full disk, or one to read alone: where the table cannot be written either, that is told.
  try {
    mkdirSync(cache, { recursive: true })
    const { bavail, bsize } = statfsSync(cache)
    if (bavail * bsize < content.length + spareBytes) return
    writeFileSync(draft, hashOf([content]))
    appendFileSync(draft, content)
    renameSync(draft, join(cache, name))
  } catch {
    if (existsSync(draft)) rmSync(draft)
    return
  }
  try {
    removeOld(cache, name)
  } catch {
    // Another build cleans up at the same time.
  }
}

/** Keeps the newest of the others, and nothing of a build that was killed a day ago. */
function removeOld(cache: string, name: string): void {
  const others = readdirSync(cache)
    .filter((other) => other.startsWith('places-') && other !== name)
    .map((other) => ({ path: join(cache, other), ms: statSync(join(cache, other)).mtimeMs }))
    .toSorted((a, b) => b.ms - a.ms)
  const whole = others.filter(({ path }) => path.endsWith('.bin')).slice(keptFiles - 1)
  const drafts = others.filter(
    ({ path, ms }) => path.endsWith('.tmp') && ms < Date.now() - msPerDay,
  )
  for (const { path } of [...whole, ...drafts]) rmSync(path, { force: true })
}

function columnsOf(locations: readonly Location[]): Columns {
  const ids = new Map<string, number>()
  const idOf = (text: string): number => {
    const known = ids.get(text)
    if (known !== undefined) return known
    ids.set(text, ids.size)
    return ids.size - 1
  }
  const textColumns = textMembers.map((member) =>
    Uint32Array.from(locations, (location) => idOf(location[member])),
  )
  const numberColumns = numberMembers.map((member) =>
    Float64Array.from(locations, (location) => location[member]),
  )
  return { texts: [...ids.keys()], textColumns, numberColumns }
}

/** Members by name, for half a million objects that are made of computed ones take seconds. */
function locationsOf({ texts, textColumns, numberColumns }: Columns): readonly Location[] {
  const [latitude, longitude] = numberColumns
  const text = (column: number, row: number): string => texts[textColumns[column]![row]!]!
  return Array.from(latitude!, (_, row) => ({
    country_code: text(0, row),
    continent_code: text(1, row),
    continent: text(2, row),
    country: text(3, row),
    state: text(4, row),
    city: text(5, row),
    zip: text(6, row),
    latitude: latitude![row]!,
    longitude: longitude![row]!,
    timezone: text(7, row),
    currency_code: text(8, row),
    accuracy: text(9, row) as Location['accuracy'],
  }))
}

function keyOf(files: readonly string[]): string {
  const here = import.meta.dirname
  const code = ['.', '../mmdb', '../layer', '../../src/base'].flatMap((folder) =>
    readdirSync(join(here, folder))
      .filter((name) => /\.[jt]s$/.test(name))
      .map((name) => join(here, folder, name)),
  )
  // package.json names the exact versions of what that code imports.
  const beside = ['data/tables/countries.csv', 'package.json'].map((name) =>
    join(packageRoot, name),
  )
  return hashOf(readAll([...code, ...beside, ...files]))
    .toString('hex')
    .slice(0, 32)
}

/** One at a time: place files have a hundred megabytes. */
function* readAll(paths: readonly string[]): Generator<Uint8Array> {
  for (const path of paths) yield readFileSync(path)
}

/** Each part with its length before it, so that no two lists of parts are one. */
function hashOf(parts: Iterable<Uint8Array>): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}\n`).update(part)
  return hash.digest()
}
