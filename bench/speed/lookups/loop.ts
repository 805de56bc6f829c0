// The loops over one operation, in JavaScript. What they call must be the only thing they ever
// call: a loop that has met a second `step` no longer takes it in, and everything measured from
// then on would be slower. So measure.ts loads this module anew for each row.

/** One address to a number below 2^31: what an operation is. */
export type Step = (at: number) => number

/** The sum of what `step` gives for the addresses from `first` to before `end`. */
export function pass(step: Step, first: number, end: number): number {
  let sum = 0
  for (let at = first; at < end; at++) sum = (sum + step(at)) | 0
  return sum >>> 0
}

/**
 * The same, each address from a place that depends on the result before it: `last >>> 31` is 0,
 * which neither compiler nor processor can know. So no lookup can begin before the last has ended.
 */
export function dependentPass(step: Step, first: number, end: number): number {
  let sum = 0
  let last = 0
  for (let at = first; at < end; at++) {
    last = step(at + (last >>> 31))
    sum = (sum + last) | 0
  }
  return sum >>> 0
}
