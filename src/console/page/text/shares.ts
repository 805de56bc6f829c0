// How many of the rows have each value of a member, most first.

export interface Share {
  readonly name: string
  readonly count: number
  /** Of all rows, 0 to 1. */
  readonly share: number
}

/** At most `max`; what is left out comes together as `others` where there is any. */
export function sharesBy<Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  max: number,
): { readonly top: readonly Share[]; readonly others: Share | undefined } {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const name = nameOf(row)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const all = [...counts]
    .toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([name, count]): Share => ({ name, count, share: count / rows.length }))
  const left = all.slice(max).reduce((sum, one) => sum + one.count, 0)
  const others = left === 0 ? undefined : { name: 'others', count: left, share: left / rows.length }
  return { top: all.slice(0, max), others }
}
