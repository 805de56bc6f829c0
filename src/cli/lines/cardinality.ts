// How many different numbers there were, in bounded memory: exact up to half a million, then
// estimated. Kept are the numbers below a bound; where they become too many the bound is halved and
// half of them go. The rest, times how often it was halved, is the estimate (Wegman's adaptive
// sampling; Flajolet, 1990): its standard error is about 1.2 / sqrt(kept), 0.2 percent.
//
// Invariant: numbers are evenly spread over 0 … 2^53 - 1, and the same thing has the same number.

/** A power of two; 16 MiB of places, half of which are used at most. */
const placesDefault = 1 << 20

export interface Cardinality {
  readonly add: (numbers: Float64Array) => void
  readonly count: () => { readonly count: number; readonly isEstimate: boolean }
}

export function newCardinality(placeCount = placesDefault): Cardinality {
  let places = new Float64Array(placeCount).fill(-1)
  let used = 0
  let halvings = 0
  let bound = 2 ** 53
  const mask = placeCount - 1

  const put = (number: number): boolean => {
    // The high bits decide whether a number is kept, so others decide where.
    let place = (number / 0x20_0000) & mask
    for (;;) {
      const held = places[place]!
      if (held === number) return false
      if (held === -1) {
        places[place] = number
        return true
      }
      place = (place + 1) & mask
    }
  }
  const halve = (): void => {
    const held = places
    places = new Float64Array(placeCount).fill(-1)
    bound /= 2
    halvings += 1
    used = 0
    for (const number of held) if (number >= 0 && number < bound && put(number)) used += 1
  }
  return {
    add: (numbers) => {
      for (const number of numbers) {
        if (number >= bound || !put(number)) continue
        used += 1
        if (used * 2 > placeCount) halve()
      }
    },
    count: () => ({ count: used * 2 ** halvings, isEstimate: halvings > 0 }),
  }
}
