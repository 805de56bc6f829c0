// The plain pass: sorted queries beside sorted ranges, once through. For each query it hands over
// the ranges that hold it. No tree, no index, no cutting into pieces.

import type { Point, Span } from './address.ts'

/** Ascending order of numbers or of bigints. */
export function order(a: Point, b: Point): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * Calls `visit` for every query (ascending) that at least one range holds, with all ranges that do,
 * in the order in which they start.
 */
export function sweep<S extends Span>(
  queries: readonly Point[],
  spans: readonly S[],
  visit: (query: number, holding: readonly S[]) => void,
): void {
  const sorted = [...spans].sort((a, b) => order(a.first, b.first))
  let open: S[] = []
  let next = 0
  for (let index = 0; index < queries.length; index++) {
    const query = queries[index]!
    while (next < sorted.length && sorted[next]!.first <= query) open.push(sorted[next++]!)
    // Of most feeds most queries are in no range.
    if (open.length > 0) open = open.filter((span) => span.last >= query)
    if (open.length > 0) visit(index, open)
    else if (next === sorted.length) break
  }
}
