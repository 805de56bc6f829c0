// The period of a quota: a calendar month, UTC, as whole months since January 1970. Which month an
// instant lies in depends on the instant alone: a clock that jumps over a month's end and back
// meets the same counters again.

/** Whole months since 1970-01, UTC. */
export type Month = number & { readonly __brand: 'Month' }

/** Stands where a month would: none. */
export const noMonth = -1

/** The month that holds the instant `ms` (milliseconds since the epoch). */
export function monthOf(ms: number): Month {
  const date = new Date(ms)
  return ((date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()) as Month
}

/** The first millisecond of the month. */
export function monthStart(month: number): number {
  return Date.UTC(1970 + Math.floor(month / 12), month % 12)
}

/** 2,419,200 to 2,678,400. */
export function monthSeconds(month: Month): number {
  return (monthStart(month + 1) - monthStart(month)) / 1000
}

/** `2026-08`. */
export function formatMonth(month: Month): string {
  return new Date(monthStart(month)).toISOString().slice(0, 7)
}
