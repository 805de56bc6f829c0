// Spans of time as an operator writes them (`90s`, `30m`, `1h`, `1d`, `off`), and instants.

import { parseDay } from './day.ts'

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds; 0 for `off`, NaN for what is no such span. */
export function parseDurationMs(text: string): number {
  if (text === 'off') return 0
  const [, count, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? []
  return unit === undefined ? NaN : Number(count) * unitsMs[unit as keyof typeof unitsMs]
}

/** 90 for `90d`; `undefined` where the text is not a number of days. */
export function parseDays(text: string): number | undefined {
  const [, count] = /^([1-9]\d{0,4})d$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count)
}

/** An instant, or a span before now: `24h`. `undefined` for all else. */
export function parseMoment(text: string, nowMs: number): number | undefined {
  const agoMs = parseDurationMs(text)
  return agoMs > 0 ? nowMs - agoMs : parseInstant(text)
}

// RFC 3339 with a zone, or a day, which stands for its beginning in UTC. `Date.parse` alone takes
// 30 February for 2 March, and 24:00 for the next day.

const form =
  /^(\d{4}-\d\d-\d\d)(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

/** `undefined` for any other form, and for days that do not exist. */
export function parseInstant(text: string): number | undefined {
  const day = form.exec(text)?.[1]
  if (day === undefined || parseDay(day) === undefined) return undefined
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}
