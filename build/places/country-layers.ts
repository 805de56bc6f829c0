// Of place files only the countries, as two layers: what two editions are compared by. Cities,
// coordinates and time zones, which differ from edition to edition far more, are not read.

import type { Layer } from '../layer/layer.ts'
import { openMmdb } from '../mmdb/mmdb-file.ts'
import { locationOf } from '../mmdb/mmdb-layouts.ts'
import { walkMmdb } from '../mmdb/walk-tree.ts'

/** Numbers of country codes from 1, in order of first appearance. */
export type CountryNumbers = Map<string, number>

/** A family that no file holds is absent. Errors: those of openMmdb and walkMmdb. */
export function readCountryLayers(
  files: readonly string[],
  numbers: CountryNumbers,
): { readonly 4?: Layer; readonly 6?: Layer } {
  const layers: { 4?: Layer; 6?: Layer } = {}
  const idOf = (record: unknown): number => {
    const country = locationOf(record)?.country ?? ''
    if (country === '') return 0
    const known = numbers.get(country)
    if (known !== undefined) return known
    numbers.set(country, numbers.size + 1)
    return numbers.size
  }
  for (const path of files) {
    const walk = walkMmdb({ file: openMmdb(path), idOf })
    for (const family of [4, 6] as const) {
      const layer = walk.layers[family]
      if (layer !== undefined && layer.values.some((value) => value !== 0)) layers[family] = layer
    }
  }
  return layers
}
