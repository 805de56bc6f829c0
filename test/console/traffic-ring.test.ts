// The ring of traffic, by a clock and counters of the tests' own.

import { expect, it } from 'vitest'
import { createTrafficRing, keptPoints, trafficMinutesMax } from '../../src/console/traffic-ring.ts'
import {
  counterSnapshot,
  countAnswer,
  countDecision,
  countEvent,
  countRequest,
  newRequestCounters,
} from '../../src/observe/request-counters.ts'
import { decisionLabel } from '../../src/model/policy-form.ts'
import type { TrafficCounts } from '../../src/observe/traffic-counter.ts'

const minute = 60_000
const dayMinutes = trafficMinutesMax / 2

type Kept = Parameters<typeof createTrafficRing>[2]

function ringOfTests(kept: Kept = [], atMs = 1_790_000_000_000) {
  const clock = { ms: atMs - (atMs % minute) }
  const counters = newRequestCounters()
  const waiting: TrafficCounts[] = []
  let asked = 0
  const ring = createTrafficRing(
    {
      collectCounters: async () => ({ total: counterSnapshot(counters) }),
      takeTraffic: async () => {
        asked += 1
        return waiting.splice(0)
      },
    },
    () => clock.ms,
    kept,
  )
  return { clock, counters, waiting, ring, asked: () => asked }
}

const blockedBy = (rule: string) => ({
  label: decisionLabel({ policy: 'login', rule, action: 'block' }),
  observedLabels: [],
})

const counted = (networks: TrafficCounts['top']['networks'] = []): TrafficCounts => ({
  scores: [1, 0, 0, 0, 0, 0, 0, 0, 2, 0],
  decisions: [['login/block', 2]],
  top: { networks, countries: [], providers: [], blocked: networks, keys: [['k1', 2, 0]] },
})

it('has a point a minute, of what was counted in it, and one of the minute that runs', async () => {
  const { clock, counters, waiting, ring, asked } = ringOfTests()
  await ring.look()
  countRequest(counters, 200, 0, 0.06)
  countRequest(counters, 429, 0, 0.06)
  countAnswer(counters, 'tor')
  for (const rule of ['a', 'b']) {
    countDecision(counters, blockedBy(rule))
  }
  countEvent(counters, 'rateLimited')
  waiting.push(counted([['AS1', 5, 1]]), counted([['AS1', 3, 0]]))
  clock.ms += minute
  await ring.look()
  countAnswer(counters, 'vpn')
  countEvent(counters, 'gateAnswers')
  countDecision(counters, blockedBy('a'))
  clock.ms += 5000
  const [{ minutes, top }] = await Promise.all([ring.view(-Infinity), ring.view(-Infinity)])
  expect(asked()).toBe(3)
  expect(minutes).toHaveLength(2)
  expect(minutes[0]).toMatchObject({
    checks: 1,
    classes: { tor: 1 },
    sources: { check: 1 },
    keys: { k1: 4 },
    scores: [2, 0, 0, 0, 0, 0, 0, 0, 4, 0],
    decisions: { 'login/block': 6 },
    statuses: { '200': 1, '429': 1 },
    limited: { rate: 1, quota: 0 },
  })
  expect(minutes[0]?.latency?.p50).toBeGreaterThan(0.000_05)
  expect(minutes[0]?.latency?.p99).toBeLessThanOrEqual(0.000_1)
  expect(minutes[1]).toMatchObject({
    checks: 1,
    classes: { vpn: 1 },
    sources: { gate: 1 },
    decisions: { 'login/block': 1 },
    latency: null,
  })
  expect(top.networks).toEqual([{ name: 'AS1', checks: 8, error: 1 }])
  expect(top.blocked).toEqual(top.networks)
  await ring.view(-Infinity)
  expect(asked()).toBe(3)
  const later = await ring.view(Date.parse(minutes[1]!.at))
  expect(later.minutes).toHaveLength(1)
})

it('forgets what is older than a day, and of names what is older than an hour', async () => {
  const { clock, waiting, ring } = ringOfTests()
  await ring.look()
  for (let at = 0; at < trafficMinutesMax + 10; at += 1) {
    waiting.push(counted([[`AS${at}`, 1, 0]]))
    clock.ms += minute
    await ring.look()
  }
  const { minutes, top } = await ring.view(-Infinity)
  expect(ring.points()).toHaveLength(trafficMinutesMax)
  expect(minutes).toHaveLength(dayMinutes + 1)
  expect(top.networks.every(({ name }) => Number(name.slice(2)) >= trafficMinutesMax - 50)).toBe(
    true,
  )
})

it('goes on with the points of a server before, and sums up the day before the last', async () => {
  const { clock, counters, ring } = ringOfTests()
  for (let at = 0; at < 2 * dayMinutes - 30; at += 1) {
    if (at % 60 === 0) countAnswer(counters, 'tor')
    if (at === 60) countDecision(counters, blockedBy('a'))
    clock.ms += minute
    await ring.look()
  }
  const kept = keptPoints(JSON.parse(JSON.stringify(ring.points())), clock.ms)
  expect(kept).toEqual(ring.points())
  const next = ringOfTests(kept, clock.ms)
  const { minutes, before } = await next.ring.view(-Infinity)
  // The day before ends where the minutes begin; half an hour of it is not known.
  expect(minutes).toHaveLength(dayMinutes + 1)
  expect(minutes.reduce((sum, one) => sum + one.checks, 0)).toBe(24)
  expect(before).toEqual({ checks: 24, decisions: { 'login/block': 1 } })
  const short = ringOfTests(kept.slice(60), clock.ms)
  expect((await short.ring.view(-Infinity)).before).toBeNull()
  // A time without a server shows as empty minutes at both of its ends.
  const late = await ringOfTests(kept, clock.ms + 60 * minute).ring.view(-Infinity)
  const lastMs = Date.parse(kept.at(-1)!.at)
  expect(late.minutes.slice(-3).map(({ at, checks }) => [Date.parse(at) - lastMs, checks])).toEqual(
    [
      [minute, 0],
      [60 * minute, 0],
      [61 * minute, 0],
    ],
  )
  const [point] = kept
  const foreign = [null, 7, {}, { ...point, checks: 'many' }, { ...point, at: 'now' }, point]
  expect(keptPoints(foreign, clock.ms)).toEqual([point])
  expect(keptPoints(foreign, clock.ms + trafficMinutesMax * minute)).toEqual([])
  expect(keptPoints({ length: 1 }, clock.ms)).toEqual([])
})
