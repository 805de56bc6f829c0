// Delays between retries, doubled after each failure.

export interface Backoff {
  readonly msMin: number
  readonly msMax: number
}

/** `failures`: in a row, at least one. */
export const backoffMs = ({ msMin, msMax }: Backoff, failures: number): number =>
  Math.min(msMax, msMin * 2 ** (failures - 1))

/** So that many machines do not act in step; `random` from 0 to 1. */
export const withJitter = (ms: number, share: number, random = Math.random()): number =>
  ms * (1 + share * (2 * random - 1))
