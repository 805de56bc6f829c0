import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifications } from '../../src/model/kind.ts'
import {
  addLabelSnapshots,
  countLabel,
  labelSnapshot,
  newLabelCounts,
  labelsCountedMax,
} from '../../src/observe/label-counts.ts'
import {
  addCounterSnapshots,
  countAnswer,
  countDecision,
  countEvent,
  countLabels,
  countOutcome,
  countRequest,
  durationBounds,
  emptyCounterSnapshot,
  newRequestCounters,
  counterSnapshot,
  httpStatuses,
  counterTotals,
} from '../../src/observe/request-counters.ts'

describe('counters', () => {
  it('put every duration where a plain search puts it', () => {
    const ms = fc.oneof(
      fc.double({ min: 0, max: 1e4, noNaN: true }),
      fc.constantFrom(...durationBounds.map((seconds) => seconds * 1000)),
    )
    fc.assert(
      fc.property(fc.array(ms), (durations) => {
        const counters = newRequestCounters()
        for (const duration of durations) countRequest(counters, 200, 0, duration)
        const plain = [...durationBounds, Infinity].map((bound, i) => {
          const above = i === 0 ? -1 : durationBounds[i - 1]! * 1000
          return durations.filter((ms) => ms > above && ms <= bound * 1000).length
        })
        expect([...counters.durations]).toEqual(plain)
        const sum = durations.reduce((a, b) => a + b, 0) / 1000
        const { durationMsSum } = counterTotals(counterSnapshot(counters))
        expect(durationMsSum / 1000).toBeCloseTo(sum, 6)
      }),
    )
  })

  it('keep statuses and classifications apart', () => {
    const counters = newRequestCounters()
    httpStatuses.forEach((status, i) => {
      for (let n = 0; n <= i; n += 1) countRequest(counters, status, 0, 1)
    })
    classifications.forEach((name, i) => {
      for (let n = 0; n <= i; n += 1) countAnswer(counters, name)
    })
    countEvent(counters, 'refused')
    countEvent(counters, 'aborted')
    countEvent(counters, 'aborted')
    const snapshot = counterSnapshot(counters)
    expect(snapshot.requests).toEqual(httpStatuses.map((_, i) => i + 1))
    expect(snapshot.answers).toEqual(classifications.map((_, i) => i + 1))
    expect(counterTotals(snapshot)).toMatchObject({ refused: 1, aborted: 2 })
    expect(snapshot.residentBytes).toBeGreaterThan(1e6)
    // It crosses between processes as JSON.
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot)
  })

  it('keep what single checks were told, by level, country, provider and decision', () => {
    const counters = newRequestCounters()
    countLabels(counters, { level: 'critical', provider: 'Mullvad', country: 'SE' })
    countLabels(counters, { level: 'low', provider: '', country: 'SE' })
    countLabels(counters, { level: 'low', provider: '', country: '' })
    const observedLabels = ['default\tvpn\t']
    countDecision(counters, { label: 'default\ttor\tblock', observedLabels })
    countOutcome(counters, 'abusive')
    const snapshot = counterSnapshot(counters)
    expect(snapshot).toMatchObject({
      scores: [2, 0, 0, 0, 1],
      countries: { SE: [1, 0, 0, 0, 1], '': [1, 0, 0, 0, 0] },
      providers: { Mullvad: [0, 0, 0, 0, 1] },
      decisions: { 'default\ttor\tblock': [1] },
      observed: { 'default\tvpn\t': [1] },
      outcomes: [0, 1],
    })
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot)
    countLabels(counters, { level: 'low', provider: 'Tor', country: 'SE' })
    const sum = addCounterSnapshots(snapshot, counterSnapshot(counters))
    expect(sum.countries['SE']).toEqual([3, 0, 0, 0, 2])
    expect(sum.providers).toEqual({ Mullvad: [0, 0, 0, 0, 2], Tor: [1, 0, 0, 0, 0] })
  })

  it('count names beyond their limit as other', () => {
    const counted = newLabelCounts(1)
    for (let n = 0; n < labelsCountedMax + 3; n++) countLabel(counted, `name ${n}`, 0)
    countLabel(counted, 'name 0', 0)
    const snapshot = labelSnapshot(counted)
    expect(Object.keys(snapshot)).toHaveLength(labelsCountedMax + 1)
    expect([snapshot['name 0'], snapshot['other']]).toEqual([[2], [3]])
  })

  it('counts names of two characters apart, capitals or not', () => {
    const counted = newLabelCounts(1)
    const chars = ['A', 'B', 'Y', 'Z', '@', '[', 'a', 'z', '0', 'é']
    const names = chars.flatMap((first) => chars.map((second) => first + second))
    for (const [i, name] of names.entries()) {
      for (let times = 0; times <= i; times++) countLabel(counted, name, 0)
    }
    const expected = names.map((name, i) => [name, [i + 1]] as const)
    expect(labelSnapshot(counted)).toEqual(Object.fromEntries(expected))
  })

  it('counts a pair beyond the limit as other, and goes on to', () => {
    const counted = newLabelCounts(1)
    for (let n = 0; n < labelsCountedMax; n++) countLabel(counted, `name ${n}`, 0)
    for (let times = 0; times < 3; times++) countLabel(counted, 'SE', 0)
    expect(labelSnapshot(counted)).toMatchObject({ other: [3] })
    expect(labelSnapshot(counted)).not.toHaveProperty('SE')
  })

  it('count whatever names a table has', () => {
    const counted = newLabelCounts(1)
    for (const name of ['__proto__', 'other', 'constructor']) countLabel(counted, name, 0)
    const snapshot = labelSnapshot(counted)
    const sum = addLabelSnapshots(snapshot, snapshot)
    expect(new Map(Object.entries(sum))).toEqual(
      new Map(['__proto__', 'other', 'constructor'].map((name) => [name, [2]])),
    )
  })

  it('give each event a total of its own', () => {
    const counters = newRequestCounters()
    const names = Object.keys(counterTotals(emptyCounterSnapshot)) as Parameters<
      typeof countEvent
    >[1][]
    names.forEach((name, i) => {
      for (let n = 0; n <= i; n += 1) countEvent(counters, name)
    })
    expect(counters.totals).toHaveLength(names.length)
    expect(Object.values(counterTotals(counterSnapshot(counters)))).toEqual(
      names.map((_, i) => i + 1),
    )
  })

  it('add up', () => {
    const counters = newRequestCounters()
    countRequest(counters, 404, 0, 3)
    const one = counterSnapshot(counters)
    const two = addCounterSnapshots(addCounterSnapshots(emptyCounterSnapshot, one), one)
    expect(two.requests[httpStatuses.indexOf(404)]).toBe(2)
    expect(counterTotals(two).durationMsSum / 1000).toBe(0.006)
    expect(two.residentBytes).toBe(one.residentBytes)
  })
})
