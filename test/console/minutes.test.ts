import { expect, it } from 'vitest'
import { joinMinutes, wholeMinutes } from '../../src/console/page/text/figures.ts'

const minute = (at: string, checks: number): Parameters<typeof wholeMinutes>[0][number] => ({
  at: `2026-11-22T04:${at}:00.000Z`,
  checks,
  classes: {},
  sources: {},
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
