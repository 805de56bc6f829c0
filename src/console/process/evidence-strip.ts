// Which days a feed has listed an address on, as far as the table knows: the first and the last
// day, and of the last thirty days on how many the feed was read and listed it.

import { type Day, formatDay, parseDay } from '../../base/day.ts'
import type { InsightEvidence } from '../../api/insights-answer.ts'
import type { AddressView } from '../../api/admin-answers.ts'

export const stripDays = 60
/** The days that `days_seen` and `days_observed` count. */
const countedDays = 30

/**
 * One character a day, the newest last: `1` listed, `0` not, `~` between the first day and the last
 * one, listed on some of them, `-` before the feed was read, as far as that is known.
 */
export function evidenceStrip(one: InsightEvidence, asOf: Day): AddressView['strips'][number] {
  const { feed, kind, first_seen: since, last_seen: until, days_seen: seen } = one
  const [first, last] = [parseDay(since) ?? asOf, parseDay(until) ?? asOf]
  const from = (asOf - stripDays + 1) as Day
  const counted = Math.max(first, asOf - countedDays + 1)
  // Listed on each day from its first one on, as far as days are counted.
  const isWhole = seen >= last - counted + 1
  const observed = Math.min(asOf - one.days_observed + 1, first)
  const days = Array.from({ length: stripDays }, (_, at) => {
    const day = from + at
    if (day === first || day === last) return '1'
    if (day > last) return '0'
    if (day > first) return isWhole && day >= counted ? '1' : '~'
    return day >= observed ? '0' : '-'
  })
  return { feed, kind, since, until, days: days.join('') }
}

export function firstStripDay(asOf: Day): string {
  return formatDay((asOf - stripDays + 1) as Day)
}
