// Calendar months, UTC, by a slow twin that walks the days.

import { describe, expect, it } from 'vitest'
import {
  formatMonth,
  monthOf,
  monthSeconds,
  monthStart,
} from '../../../src/account/limits/quota-period.ts'

const msPerDay = 86_400_000

describe('a month', () => {
  it('holds the days of its name, in every month from 1970 to 2100', () => {
    let seen = -1
    for (let ms = 0; ms < Date.UTC(2100, 0); ms += msPerDay) {
      const name = new Date(ms).toISOString().slice(0, 7)
      const month = monthOf(ms)
      expect(formatMonth(month)).toBe(name)
      expect(monthOf(ms + msPerDay - 1)).toBe(month)
      if (month === seen) continue
      expect([month, monthStart(month)]).toEqual([seen + 1, ms])
      seen = month
    }
    expect(seen).toBe(130 * 12 - 1)
  })

  it('has 28 to 31 days', () => {
    const days = (ms: number): number => monthSeconds(monthOf(ms)) / 86_400
    expect([1, 3, 7].map((month) => days(Date.UTC(2026, month, 9)))).toEqual([28, 30, 31])
    expect(days(Date.UTC(2028, 1, 29, 23))).toBe(29)
  })
})
