// The period of a quota: a calendar month, UTC. It depends on the instant alone, so a clock that
// jumps back meets the same counters.

/** Whole months since 1970-01, UTC. */
export type Month = number & { readonly __brand: 'Month' }

export const noMonth = -1

export function monthOf(ms: number): Month {
  const date = new Date(ms)
  return ((date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()) as Month
}

export const monthStart = (month: number): number =>
  Date.UTC(1970 + Math.floor(month / 12), month % 12)

export const monthSeconds = (month: Month): number =>
  (monthStart(month + 1) - monthStart(month)) / 1000

/** `2026-08`. */
export const formatMonth = (month: Month): string =>
  new Date(monthStart(month)).toISOString().slice(0, 7)
