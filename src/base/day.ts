// A calendar day, UTC.

/** Whole days since 1970-01-01 UTC. */
export type Day = number & { readonly __brand: 'Day' }

export const msPerDay = 86_400_000

export const dayOf = (ms: number): Day => Math.floor(ms / msPerDay) as Day

/** `2026-08-22`; `undefined` for other forms, for days that do not exist, and before 1970. */
export function parseDay(text: string): Day | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (match === null) return undefined
  const ms = Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3]))
  const day = dayOf(ms)
  return day >= 0 && formatDay(day) === text ? day : undefined
}

/** Allows for any time zone. */
export const isFuture = (day: Day, today: Day): boolean => day > today + 1

let lastDay = 0
let lastText = '1970-01-01'

/** The last day is cached: most answers name the same few. */
export function formatDay(day: Day): string {
  if (day !== lastDay) {
    lastText = new Date(day * msPerDay).toISOString().slice(0, 10)
    lastDay = day
  }
  return lastText
}

/** Never below 0: a clock may lag behind a feed. */
export const ageSeconds = (day: Day, nowMs: number): number =>
  Math.max(0, Math.floor((nowMs - day * msPerDay) / 1000))
