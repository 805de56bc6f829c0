// Every form in which a feed states its day, as the real files write it.

import { describe, expect, it } from 'vitest'
import { statedDay, statedInComment } from '../../../build/parse/stated-day.ts'
import { formatDay } from '../../../src/base/day.ts'

const shown = (day: ReturnType<typeof statedDay>): string | undefined =>
  day === undefined ? undefined : formatDay(day)

describe('a stated date', () => {
  it.each([
    ['2026-08-22', '2026-08-22'],
    ['2026-08-22-15-17-05', '2026-08-22'],
    ['2026-08-21T01:05:42.583377', '2026-08-21'],
    ['2026-08-21T10:00:05Z', '2026-08-21'],
    ['2026-08-22T20:26:16.973Z', '2026-08-22'],
    ['2026-08-22 01:01:44.682352', '2026-08-22'],
    ['2026-08-22 02:00:00 UTC', '2026-08-22'],
    ['2026-08-22T23:30:00-02:00', '2026-08-23'],
    ['2026-08-22T01:30:00+0200', '2026-08-21'],
    ['Sat, 22 Aug 2026 03:00:29 +0200', '2026-08-22'],
    ['Sat, 22 Aug 2026 01:59:59 +0200', '2026-08-21'],
    ['1 Jan 2026 00:30:00 +0100', '2025-12-31'],
    ['Sat Nov 22 2025 01:04:41 GMT+0000 (Coordinated Universal Time)', '2025-11-22'],
    ['Sat Nov 22 2025 23:30:00 GMT-0100', '2025-11-23'],
    ['1970-01-01', '1970-01-01'],
    ['1950-01-01', undefined],
    ['Thu, 1 Jan 1970 00:30:00 +0100', undefined],
    ['2026-02-30', undefined],
    ['32 Jan 2026', undefined],
    ['1 Foo 2026', undefined],
    ['yesterday', undefined],
    ['', undefined],
    ['20260822', undefined],
  ])('%s', (text, day) => {
    expect(shown(statedDay(text))).toBe(day)
  })
})

describe('a comment line', () => {
  it.each([
    ['# Last update: 2026-08-22 01:01:44.682352', '2026-08-22'],
    ['# Generated: 2026-08-22 02:00:00 UTC', '2026-08-22'],
    ['# Last modified: 2025-07-24 10:00:06.525037', '2025-07-24'],
    ['; updated at: 2026-08-22', '2026-08-22'],
    ['# 2025-08-31T13:25:28Z', '2025-08-31'],
    ['# 2025-08-31', undefined],
    ['# 2026-08-22 is a day', undefined],
    ['# 2025-08-31T13:25:28Z is when it began', undefined],
    ['# Last update: never', undefined],
    ['# Licence: see page, Generated: 2026-08-22', undefined],
  ])('%s', (line, day) => {
    expect(shown(statedInComment(line))).toBe(day)
  })
})
