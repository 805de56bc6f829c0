// Days of evidence as the table knows them.

import { describe, expect, it } from 'vitest'
import type { InsightEvidence } from '../../../src/api/insights-answer.ts'
import { type Day, formatDay, parseDay } from '../../../src/base/day.ts'
import { evidenceStrip, firstStripDay } from '../../../src/console/process/address-view.ts'

const asOf = parseDay('2026-08-22') as Day

/** Of days before the table's. */
function stripOf(first: number, last: number, seen: number, observed: number): string {
  const day = (before: number): string => formatDay((asOf - before) as Day)
  const one = { feed: 'f', kind: 'tor', first_seen: day(first), last_seen: day(last) }
  const counts = { days_seen: seen, days_observed: observed }
  return evidenceStrip({ ...one, ...counts } as InsightEvidence, asOf).days
}

describe('a strip', () => {
  it('begins sixty days ago and ends with the day of the table', () => {
    expect(firstStripDay(asOf)).toBe('2026-06-24')
    expect(stripOf(0, 0, 1, 1)).toBe(`${'-'.repeat(59)}1`)
  })

  it('says listed where that is certain, and otherwise that it is not', () => {
    expect(stripOf(4, 0, 5, 30)).toBe(`${'-'.repeat(30)}${'0'.repeat(25)}11111`)
    expect(stripOf(4, 0, 3, 30)).toBe(`${'-'.repeat(30)}${'0'.repeat(25)}1~~~1`)
    expect(stripOf(4, 2, 3, 5)).toBe(`${'-'.repeat(55)}11100`)
    expect(stripOf(40, 0, 30, 30)).toBe(`${'-'.repeat(19)}1${'~'.repeat(10)}${'1'.repeat(30)}`)
    expect(stripOf(90, 70, 0, 30)).toBe('0'.repeat(60))
  })
})
