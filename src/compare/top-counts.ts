// Counts keys of which there may be any number, in bounded memory: exact up to `keysMax` different
// ones, then those that were counted least are forgotten, half of them at a time. What comes often
// stays; its count may then be a little too low, by what was forgotten of it before.

export type TopCounts = ReturnType<typeof newTopCounts>

const sumOf = (counts: Float64Array): number => counts.reduce((all, one) => all + one, 0)

/** `width`: how many numbers a key has. */
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
    /** Keys by the sum of their numbers, largest first; equals in the order of their texts. */
    top: (most: number) =>
      [...rows]
        .map(([key, counts]) => ({ key, counts, sum: sumOf(counts) }))
        .sort((a, b) => b.sum - a.sum || (a.key < b.key ? -1 : 1))
        .slice(0, most)
        .map(({ key, counts }) => [key, counts] as const),
    /** Different keys; at least so many where some were forgotten. */
    size: () => sizeMax,
    isEstimate: () => isEstimate,
  }
}
