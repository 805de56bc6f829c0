// The most frequent names in a fixed number of rows: Space-Saving (Metwally, Agrawal, El Abbadi,
// "Efficient computation of frequent and top-k elements in data streams", 2005). A new name
// replaces the smallest row and inherits its count as error.
//
// Invariants, for `taken` counts and `size` rows: count - error ≤ true count ≤ count; every name
// counted more than taken / size times has a row. Merging keeps the first; a name missing from a
// full sketch may have had up to that sketch's smallest count.

/** `error`: by how much the count may be too high. */
export type TopRow = readonly [name: string, count: number, error: number]

export function createTopSketch(size: number) {
  const counts = new Map<string, { count: number; error: number }>()
  return {
    add: (name: string, weight: number): void => {
      const known = counts.get(name)
      if (known !== undefined) known.count += weight
      else if (counts.size < size) counts.set(name, { count: weight, error: 0 })
      else {
        let least = ''
        let error = Infinity
        for (const [other, { count }] of counts) {
          if (count >= error) continue
          least = other
          error = count
        }
        counts.delete(least)
        counts.set(name, { count: error + weight, error })
      }
    },
    /** Largest first. */
    rows: () => sortedRows(counts),
  }
}

/** Merges sketches of `size` rows into one of `shown`. */
export function mergeTopRows(
  sketches: readonly (readonly TopRow[])[],
  { size, shown }: { readonly size: number; readonly shown: number },
): readonly TopRow[] {
  const floors = sketches.map((rows) => (rows.length < size ? 0 : (rows.at(-1)?.[1] ?? 0)))
  const floor = floors.reduce((sum, one) => sum + one, 0)
  const merged = new Map<string, { count: number; error: number }>()
  sketches.forEach((rows, at) => {
    for (const [name, count, error] of rows) {
      const known = merged.get(name) ?? { count: floor, error: floor }
      // Its row here is more precise than the floor.
      known.count += count - floors[at]!
      known.error += error - floors[at]!
      merged.set(name, known)
    }
  })
  return sortedRows(merged).slice(0, shown)
}

function sortedRows(
  counts: ReadonlyMap<string, { readonly count: number; readonly error: number }>,
): readonly TopRow[] {
  const rows = [...counts].map(([name, { count, error }]): TopRow => [name, count, error])
  return rows.sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
}
