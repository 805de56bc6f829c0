// Counts an unlimited number of keys in bounded memory: exact up to `keysMax` different ones;
// beyond, the half with the lowest counts is dropped. Frequent keys stay; a count may be slightly
// too low, by what it had before a drop.

export type TopCounts = ReturnType<typeof newTopCounts>

const sumOf = (counts: Float64Array): number => counts.reduce((all, one) => all + one, 0)

/** `width`: numbers per key. */
export function newTopCounts(width: number, keysMax = 200_000) {
  let rows = new Map<string, Float64Array>()
  let sizeMax = 0
  let isEstimate = false
  const forget = (): void => {
    const sorted = [...rows].sort(([, a], [, b]) => sumOf(b) - sumOf(a))
    rows = new Map(sorted.slice(0, keysMax >>> 1))
    isEstimate = true
  }
  return {
    /** Adds to each of the key's numbers. */
    add: (key: string, counts: ArrayLike<number>): void => {
      let row = rows.get(key)
      if (row === undefined) {
        if (rows.size >= keysMax) forget()
        row = new Float64Array(width)
        rows.set(key, row)
        sizeMax = Math.max(sizeMax, rows.size)
      }
      for (let i = 0; i < width; i++) row[i]! += counts[i] ?? 0
    },
    /** Sorted by the sum of their numbers, largest first, then by key. */
    top: (most: number) =>
      [...rows]
        .map(([key, counts]) => ({ key, counts, sum: sumOf(counts) }))
        .sort((a, b) => b.sum - a.sum || (a.key < b.key ? -1 : 1))
        .slice(0, most)
        .map(({ key, counts }) => [key, counts] as const),
    /** Different keys; a minimum after a drop. */
    size: () => sizeMax,
    isEstimate: () => isEstimate,
  }
}
