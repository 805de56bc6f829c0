// The few statistics that reports are made of. Rounds are summed up by their median, which one
// disturbed round cannot move far; a ratio is taken inside each round first, where both variants
// met the same machine.

/** The middle value, or the mean of the two middle ones. `values` has one at least. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle]
  if (upper === undefined) throw new RangeError('The median of no values was asked for.')
  if (sorted.length % 2 === 1) return upper
  return ((sorted[middle - 1] ?? upper) + upper) / 2
}

/** The median of value / base, round by round. Both have one value for each round. */
export function medianRatio(options: {
  readonly values: readonly number[]
  readonly base: readonly number[]
}): number {
  const { values, base } = options
  if (values.length !== base.length) {
    throw new RangeError(`${values.length} rounds cannot be compared with ${base.length}.`)
  }
  return median(values.map((value, round) => value / (base[round] ?? Number.NaN)))
}

/** (highest - lowest) / median: how far the rounds lie apart. */
export function spread(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / median(values)
}

/** `count` parts, one after the other, as even as may be; fewer of fewer values, and none empty. */
export function cutInParts<T>(values: readonly T[], count: number): readonly (readonly T[])[] {
  const length = Math.min(count, values.length)
  const at = (part: number): number => Math.floor((part * values.length) / length)
  return Array.from({ length }, (_, part) => values.slice(at(part), at(part + 1)))
}

/**
 * The least point of each third: of memory, of which a look shows what is held and at times a good
 * deal more, never less.
 */
export function leastOfThirds(
  points: readonly (readonly [x: number, y: number])[],
): readonly (readonly [x: number, y: number])[] {
  return cutInParts(points, 3).map((part) =>
    part.reduce((one, other) => (other[1] < one[1] ? other : one)),
  )
}

/**
 * How fast y grows with x, by the median of the slopes of all pairs (Theil and Sen); two at least.
 */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], i) =>
    points.slice(i + 1).map(([otherX, otherY]) => (otherY - y) / (otherX - x)),
  )
  return median(slopes)
}
