// strength = 1 − Π over groups (1 − w·d·m). Feeds that republish each other are one group with one
// voice, its strongest. Independent of the order of input: factors are multiplied in ascending
// order, and the result is rounded to six decimals, so that the last bit never decides a threshold.

/** A kind is present from this strength; below there are only reasons, no signal. */
export const presentStrengthMin = 0.25

/** One voice: its value, 0 to 1, and its group. */
export interface GroupValue {
  readonly group: string
  readonly value: number
}

/** Six decimals: finer than any weight, coarser than effects of the order of factors. */
export const roundStrength = (strength: number): number => Math.round(strength * 1e6) / 1e6

/** The strongest value of each group, in no particular order. */
export function strongestByGroup(words: readonly GroupValue[]): number[] {
  const groups: string[] = []
  const values: number[] = []
  for (const { group, value } of words) {
    const index = groups.indexOf(group)
    if (index === -1) {
      groups.push(group)
      values.push(value)
    } else if (value > (values[index] ?? 0)) {
      values[index] = value
    }
  }
  return values
}

/** 0 (no evidence) to 1 (certain). */
export function strengthOf(words: readonly GroupValue[]): number {
  const only = words[0]
  if (only === undefined) return 0
  if (words.length === 1) return roundStrength(only.value)
  const values = strongestByGroup(words).sort((a, b) => a - b)
  let doubt = 1
  for (const value of values) doubt *= 1 - value
  return roundStrength(1 - doubt)
}
