// Which addresses are asked: random ones, the edges of a sample of each input's pieces, and the
// edges of every entry of every feed, each with its neighbours. Reproducible: the same inputs give
// the same addresses.

import { type Point, type Span, neighbour } from './address.ts'
import { order } from './sweep.ts'

/** Numbers from 0 to 1, always the same ones for the same seed (mulberry32). */
export function newRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** IPv4: uniform over the spans' addresses. IPv6: any span, then any address in it. */
export function randomIn(spans: readonly Span[], count: number, random: () => number): Point[] {
  const points: Point[] = []
  const sizes: number[] = []
  let total = 0
  for (const { first, last } of spans) {
    total += typeof first === 'number' ? Number(last) - first + 1 : 1
    sizes.push(total)
  }
  for (let n = 0; n < count; n++) {
    const ticket = random() * total
    let low = 0
    let high = sizes.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (sizes[middle]! > ticket) high = middle
      else low = middle + 1
    }
    points.push(inside(spans[low]!, random))
  }
  return points
}

function inside({ first, last }: Span, random: () => number): Point {
  if (typeof first === 'number') {
    return first + Math.floor(random() * (Number(last) - first + 1))
  }
  let bits = 0n
  for (let n = 0; n < 4; n++) bits = (bits << 32n) | BigInt(Math.floor(random() * 2 ** 32))
  return first + (bits % (BigInt(last) - first + 1n))
}

/** First and last address and the ones beside them. */
export function edgesOf({ first, last }: Span): Point[] {
  const before = neighbour(first, -1)
  const after = neighbour(last, 1)
  return [before, first, last, after].filter((point) => point !== undefined)
}

/** Of one family, ascending, each once. */
export function sortedOnce(points: Iterable<Point>, family: 4 | 6): Point[] {
  const type = family === 4 ? 'number' : 'bigint'
  const own = [...points].filter((point) => typeof point === type)
  const sorted = family === 4 ? [...Float64Array.from(own as number[]).sort()] : own.sort(order)
  return sorted.filter((point, index) => index === 0 || point !== sorted[index - 1])
}
