// Stacks series: line n is the sum of the first n.

import { largestSums } from '../../../base/counts.ts'

export function stacked(series: readonly (readonly number[])[]): readonly number[][] {
  let below: readonly number[] = []
  return series.map((values) => {
    const sums = values.map((value, at) => value + (below[at] ?? 0))
    below = sums
    return sums
  })
}

export function seriesNames(points: readonly Readonly<Record<string, number>>[], max: number) {
  return largestSums(points.flatMap((point) => Object.entries(point)))
    .filter(([, sum]) => sum > 0)
    .slice(0, max)
    .map(([name]) => name)
}
