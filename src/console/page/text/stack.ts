// Series on top of each other: the n-th line runs at the sum of the first n, so that areas between
// neighbouring lines are what each series has.

import { largestSums } from '../../../base/counts.ts'

export function stacked(series: readonly (readonly number[])[]): readonly number[][] {
  let below: readonly number[] = []
  return series.map((values) => {
    const sums = values.map((value, at) => value + (below[at] ?? 0))
    below = sums
    return sums
  })
}

/** Names in all points, those with most first, at most `max`; the rest is theirs who are left out. */
export function seriesNames(
  points: readonly Readonly<Record<string, number>>[],
  max: number,
): readonly string[] {
  return largestSums(points.flatMap((point) => Object.entries(point)))
    .filter(([, sum]) => sum > 0)
    .slice(0, max)
    .map(([name]) => name)
}
