// Hot path: `countLabel`, for a known name. No allocation, throw or closure there.
//
// Counts by names that only the table or policies know (countries, providers, rules), in columns
// (score levels). Counts only grow. Names are limited, because each is a series of a metric;
// further ones count as `other`.

/** Names of one kind that a metric has as labels. */
export const labelsCountedMax = 512

export type LabelCounts = ReturnType<typeof newLabelCounts>

/** Keyed by name, a count per column: the form sent to the primary. */
export type LabelSnapshot = Readonly<Record<string, readonly number[]>>

const other = 'other'
const capitalA = 0x41
const letters = 26

export function newLabelCounts(columns: number) {
  return {
    columns,
    places: new Map([[other, labelsCountedMax]]),
    /** Places of two-letter names, as countries have; -1 if unknown. */
    pairPlaces: new Int16Array(letters * letters).fill(-1),
    /** The last place is `other`. */
    counts: new Float64Array((labelsCountedMax + 1) * columns),
  }
}

export function countLabel(counted: LabelCounts, name: string, column: number): void {
  const pair = name.length === 2 ? pairIndex(name.charCodeAt(0), name.charCodeAt(1)) : -1
  const known = pair < 0 ? -1 : counted.pairPlaces[pair]!
  const place = known < 0 ? placeOf(counted, name, pair) : known
  counted.counts[place * counted.columns + column]! += 1
}

/** Finds a name of two capitals without a hash; -1 for other characters. */
function pairIndex(first: number, second: number): number {
  const row = first - capitalA
  const column = second - capitalA
  const isPair = row >= 0 && row < letters && column >= 0 && column < letters
  return isPair ? row * letters + column : -1
}

function placeOf(counted: LabelCounts, name: string, pair: number): number {
  const known = counted.places.get(name)
  if (known === undefined) return newPlace(counted, name)
  if (pair >= 0) counted.pairPlaces[pair] = known
  return known
}

/** Not hot: once per name, and for names without a place. */
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
