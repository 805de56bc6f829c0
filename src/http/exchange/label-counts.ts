// Hot path: `countLabel`, for a name that has been counted before. No allocation, throw or closure
// there.
//
// Counts by a name that only the table or the policies know (a country, a provider, a rule), in
// columns (the levels of a score). Counts only ever grow. Names have a limit, for each is a series
// of a metric: what comes beyond it counts as `other`.

import { labelsCountedMax } from '../../base/limits.ts'

export interface LabelCounts {
  readonly columns: number
  readonly places: Map<string, number>
  readonly counts: Float64Array
}

/** By name, a count a column: as it travels to the primary. */
export type LabelSnapshot = Readonly<Record<string, readonly number[]>>

const other = 'other'

export function newLabelCounts(columns: number): LabelCounts {
  const counts = new Float64Array((labelsCountedMax + 1) * columns)
  // The last place is of all that have none.
  return { columns, places: new Map([[other, labelsCountedMax]]), counts }
}

export function countLabel(counted: LabelCounts, name: string, column: number): void {
  const place = counted.places.get(name) ?? newPlace(counted, name)
  counted.counts[place * counted.columns + column]! += 1
}

/** Not hot: once a name, and for those that have no place of their own. */
function newPlace({ places }: LabelCounts, name: string): number {
  const place = places.size - 1
  if (place < labelsCountedMax) places.set(name, place)
  return place
}

export function labelSnapshot({ columns, places, counts }: LabelCounts): LabelSnapshot {
  const named = [...places].map(
    ([name, place]) =>
      [name, [...counts.subarray(place * columns, (place + 1) * columns)]] as const,
  )
  return Object.fromEntries(named.filter(([, own]) => own.some((count) => count > 0)))
}

export function addLabelSnapshots(left: LabelSnapshot, right: LabelSnapshot): LabelSnapshot {
  const sum = new Map(Object.entries(left))
  for (const [name, counts] of Object.entries(right)) {
    const before = sum.get(name)
    sum.set(name, before?.map((count, i) => count + (counts[i] ?? 0)) ?? counts)
  }
  return Object.fromEntries(sum)
}
