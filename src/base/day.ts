// A calendar day, UTC. Feeds speak in days; so do ages, windows and half-lives.

/** Whole days since 1970-01-01 UTC. */
export type Day = number & { readonly __brand: 'Day' }

export const msPerDay = 86_400_000

/** `ms` since the epoch. */
export function dayOf(ms: number): Day {
  return Math.floor(ms / msPerDay) as Day
}

/**
 * `2026-08-22`; `undefined` for any other form, for days that do not exist, and before 1970: the
 * table has no word for one.
 */
export function parseDay(text: string): Day | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (match === null) return undefined
  const ms = Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3]))
  const day = dayOf(ms)
  return day >= 0 && formatDay(day) === text ? day : undefined
}

/** Whatever the time zone of who states it. */
export function isYetToCome(day: Day, today: Day): boolean {
  return day > today + 1
}

let lastDay = 0
let lastText = '1970-01-01'

/** Most answers name the same few days, so the last one is remembered. */
export function formatDay(day: Day): string {
  if (day !== lastDay) {
    lastText = new Date(day * msPerDay).toISOString().slice(0, 10)
    lastDay = day
  }
  return lastText
}

/** Since the beginning of `day`, never below 0: a clock may lag behind a feed. */
export function ageSeconds(day: Day, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - day * msPerDay) / 1000))
}
