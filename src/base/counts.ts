// Counts and groups by key.

export function addTo<Key>(counts: Map<Key, number>, key: Key, count = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + count)
}

/** Ties keep the map's order. */
export const largestFirst = <Key>(counts: ReadonlyMap<Key, number>): (readonly [Key, number])[] =>
  [...counts].sort(([, a], [, b]) => b - a)

/** Sums equal keys; ties are in key order. */
export function largestSums<Key>(counts: Iterable<readonly [Key, number]>) {
  const sums = new Map<Key, number>()
  for (const [key, count] of counts) addTo(sums, key, count)
  return [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
}

export function groupBy<Key, Item>(items: Iterable<Item>, keyOf: (item: Item) => Key) {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
