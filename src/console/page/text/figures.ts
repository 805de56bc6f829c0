// Numbers, times and names for people. Times are UTC.

import type { TrafficView } from '../../../api/admin-answers.ts'
import { largestSums } from '../../../base/counts.ts'

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** 4,210,332 */
export const count = (value: number): string => whole.format(value)

/** 4.2M */
export const shortCount = (value: number): string => short.format(value)

/** 12.3 %; a positive share is never 0 %. */
export function percent(share: number): string {
  const value = share * 100
  if (value === 0 || value >= 99.95) return `${Math.round(value)} %`
  return value < 0.1 ? '< 0.1 %' : `${value.toFixed(1)} %`
}

/** Checks a second: 0.25, 4.1, 12, 44,286. */
export const rate = (value: number): string =>
  value >= 10 ? whole.format(value) : String(Number(value.toPrecision(2)))

/** Seconds as 0.7 ms, 12 ms, 1.5 s. */
export function duration(seconds: number): string {
  if (seconds >= 1) return `${seconds.toFixed(1)} s`
  const ms = seconds * 1000
  return ms >= 10 ? `${Math.round(ms)} ms` : `${ms.toPrecision(2)} ms`
}

/** `2026-11-22 04:10 UTC`; other text stays as it is. */
export function utcTime(text: string): string {
  const at = Date.parse(text)
  return Number.isNaN(at)
    ? text
    : `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** `04:10` */
export const utcMinute = (at: number): string => new Date(at).toISOString().slice(11, 16)

export function dayAfter(day: string, days: number): string {
  const at = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(at) ? day : new Date(at + days * 86_400_000).toISOString().slice(0, 10)
}

/** `residential_proxy` as `residential proxy`. */
export const words = (name: string): string => name.replaceAll('_', ' ')

/** `1 address`, `2 addresses`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

/** The last one is incomplete, and comes again until it is over. */
export type Minutes = TrafficView['minutes']

/** Newer minutes replace known ones. */
export function joinMinutes(known: Minutes, came: Minutes, max: number): Minutes {
  const from = came[0]?.at
  const before = from === undefined ? known : known.filter(({ at }) => at < from)
  return [...before, ...came].slice(-max)
}

export function wholeMinutes(minutes: Minutes): Minutes {
  return minutes.slice(0, -1)
}

/** For the last `span` minutes; some may be missing, while no server ran. */
export function minutesSince(minutes: Minutes, span: number): Minutes {
  const fromMs = Date.parse(minutes.at(-1)?.at ?? '') - span * 60_000
  return minutes.filter(({ at }) => Date.parse(at) > fromMs)
}

/** Of the 24 hours to the newest minute, the oldest first. */
export function sumsByHour(minutes: Minutes, of: (minute: Minutes[number]) => number): number[] {
  const sums = Array.from({ length: 24 }, () => 0)
  const newestMs = Date.parse(minutes.at(-1)?.at ?? '')
  for (const minute of minutes) {
    const hour = 23 - Math.floor((newestMs - Date.parse(minute.at)) / 3_600_000)
    if (hour >= 0) sums[hour]! += of(minute)
  }
  return sums
}

/** `+1,300`, `−13`, `''` for 0. */
export const signed = (value: number): string =>
  value === 0 ? '' : `${value < 0 ? '−' : '+'}${count(Math.abs(value))}`

/** `+12.3 %`, `−3.0 %`; `''` without a number before. */
export function change(now: number, before: number | undefined): string {
  if (before === undefined || before === 0) return ''
  if (now === before) return '±0 %'
  return `${now < before ? '−' : '+'}${percent(Math.abs(now / before - 1))}`
}

export type Share = ReturnType<typeof sharesBy>['top'][number]

/** The largest first, at most `max`; `others` sums up the rest. */
export function sharesBy<Row>(rows: readonly Row[], nameOf: (row: Row) => string, max: number) {
  const counted = largestSums(rows.map((row) => [nameOf(row), 1] as const))
  const all = counted.map(([name, count]) => ({ name, count, share: count / rows.length }))
  const left = all.slice(max).reduce((sum, one) => sum + one.count, 0)
  const others = left === 0 ? undefined : { name: 'others', count: left, share: left / rows.length }
  return { top: all.slice(0, max), others }
}
