// Durations as operators write them (`90s`, `30m`, `1h`, `1d`, `off`), and instants.

import { parseDay } from './day.ts'

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds; 0 for `off`, NaN if invalid. */
export function parseDurationMs(text: string): number {
  if (text === 'off') return 0
  const [, count, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? []
  return unit === undefined ? NaN : Number(count) * unitsMs[unit as keyof typeof unitsMs]
}

/** 90 for `90d`; `undefined` if invalid. */
export function parseDays(text: string): number | undefined {
  const [, count] = /^([1-9]\d{0,4})d$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count)
}

/** An instant, or a duration before now: `24h`. */
export function parseMoment(text: string, nowMs: number): number | undefined {
  const agoMs = parseDurationMs(text)
  return agoMs > 0 ? nowMs - agoMs : parseInstant(text)
}

// RFC 3339 with a zone, or a day, meaning its beginning in UTC. `Date.parse` alone accepts 30
// February and 24:00.

const form =
  /^(\d{4}-\d\d-\d\d)(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

export function parseInstant(text: string): number | undefined {
  const day = form.exec(text)?.[1]
  if (day === undefined || parseDay(day) === undefined) return undefined
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}
