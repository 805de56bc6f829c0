// An instant as people and programs write it: RFC 3339 with a zone, or a day, which stands for its
// beginning in UTC. `Date.parse` alone takes 30 February for 2 March, and 24:00 for the next day.

import { parseDay } from './day.ts'

const form =
  /^(\d{4}-\d\d-\d\d)(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

/** Milliseconds since the epoch; `undefined` for any other form, and for days that do not exist. */
export function parseInstant(text: string): number | undefined {
  const day = form.exec(text)?.[1]
  if (day === undefined || parseDay(day) === undefined) return undefined
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}
