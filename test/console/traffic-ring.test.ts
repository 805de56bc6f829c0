// The ring of traffic, by a clock and counters of the tests' own.

import { expect, it } from 'vitest'
import { createTrafficRing, trafficMinutesMax } from '../../src/console/traffic-ring.ts'
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

function ringOfTests() {
  const clock = { ms: 1_790_000_000_000 - (1_790_000_000_000 % minute) }
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
  top: { networks, countries: [], providers: [] },
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
  expect(minutes).toHaveLength(trafficMinutesMax + 1)
  expect(top.networks.every(({ name }) => Number(name.slice(2)) >= trafficMinutesMax - 50)).toBe(
    true,
  )
})
