import { expect, it } from 'vitest'
import { chartsOf } from '../../src/console/page/traffic/traffic-charts.ts'
import {
  joinMinutes,
  minutesSince,
  sumsByHour,
  wholeMinutes,
} from '../../src/console/page/text/figures.ts'

const minute = (at: string, checks: number): Parameters<typeof wholeMinutes>[0][number] => ({
  at: `2026-11-22T04:${at}:00.000Z`,
  checks,
  classes: {},
  sources: {},
  keys: {},
  scores: [],
  decisions: {},
  statuses: {},
  limited: { rate: 0, quota: 0 },
  latency: null,
})

it('a minute that comes again takes the place of itself, with those behind it', () => {
  const known = [minute('01', 10), minute('02', 3)]
  const came = [minute('02', 12), minute('03', 1)]
  expect(joinMinutes(known, came, 9).map(({ checks }) => checks)).toEqual([10, 12, 1])
  expect(joinMinutes(known, came, 2).map(({ checks }) => checks)).toEqual([12, 1])
  expect(joinMinutes(known, [], 9)).toEqual(known)
})

it('the minute that runs is no whole one', () => {
  expect(wholeMinutes([minute('01', 10), minute('02', 3)]).map(({ checks }) => checks)).toEqual([
    10,
  ])
  expect(wholeMinutes([])).toEqual([])
})

it('a span ends at the newest minute, and so does its axis, however few minutes are known', () => {
  const known = ['01', '02', '30', '31'].map((at) => minute(at, 1))
  expect(minutesSince(known, 2).map(({ at }) => at.slice(14, 16))).toEqual(['30', '31'])
  expect(minutesSince(known, 30)).toHaveLength(3)
  expect(minutesSince([], 60)).toEqual([])
  const to = Date.parse('2026-11-22T04:31:00Z') / 1000
  expect(chartsOf(known, 60)[0]).toMatchObject({ from: to - 3600, to })
})

it('sums of hours end at the newest minute', () => {
  const known = ['01', '31'].map((at) => minute(at, 5))
  const dayBefore = { ...minute('31', 9), at: '2026-11-21T04:31:00.000Z' }
  const hours = [dayBefore, { ...minute('31', 2), at: '2026-11-22T03:31:00.000Z' }, ...known]
  const sums = sumsByHour(hours, ({ checks }) => checks)
  expect([sums.length, ...sums.slice(-3)]).toEqual([24, 0, 2, 10])
})
