// Milliseconds of a clock that nobody sets; that of the day may go back an hour.

export function monotonicMs(): number {
  return performance.now()
}
