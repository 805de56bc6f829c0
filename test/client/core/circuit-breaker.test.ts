// When the circuit opens, how long it stays so, and what a probe does.

import { expect, it } from 'vitest'
import { createCircuitBreaker } from '../../../src/client/core/circuit-breaker.ts'

function breaker() {
  const clock = { now: 1, opened: 0 }
  const circuit = createCircuitBreaker({
    failures: 3,
    openMs: 1000,
    now: () => clock.now,
    onOpen: () => (clock.opened += 1),
  })
  const fail = (times: number): void => {
    for (let i = 0; i < times; i++) if (circuit.admit()) circuit.fail()
  }
  return { circuit, clock, fail }
}

it('opens after failures in a row only', () => {
  const { circuit, fail } = breaker()
  fail(2)
  circuit.succeed()
  fail(2)
  expect(circuit.admit()).toBe(true)
  circuit.fail()
  expect(circuit.admit()).toBe(false)
})

it('lets one probe out when its time is over, and closes when that succeeds', () => {
  const { circuit, clock, fail } = breaker()
  fail(3)
  clock.now += 999
  expect(circuit.admit()).toBe(false)
  clock.now += 1
  expect([circuit.admit(), circuit.admit()]).toEqual([true, false])
  circuit.succeed()
  expect([circuit.admit(), circuit.admit()]).toEqual([true, true])
})

it('stays open for twice as long each time, 5 s at most', () => {
  const { circuit, clock, fail } = breaker()
  fail(3)
  const waits: number[] = []
  for (let probe = 0; probe < 5; probe++) {
    const from = clock.now
    while (!circuit.admit()) clock.now += 500
    waits.push(clock.now - from)
    circuit.fail()
  }
  expect(waits).toEqual([1000, 2000, 4000, 5000, 5000])
  expect(clock.opened).toBe(6)
})

it('lets another probe out where one was withdrawn', () => {
  const { circuit, clock, fail } = breaker()
  fail(3)
  clock.now += 1000
  expect(circuit.admit()).toBe(true)
  circuit.withdraw()
  expect(circuit.admit()).toBe(true)
})

it('takes late failures of requests that were under way for nothing new', () => {
  const { circuit, clock } = breaker()
  for (let i = 0; i < 10; i++) expect(circuit.admit()).toBe(true)
  for (let i = 0; i < 10; i++) circuit.fail()
  expect(clock.opened).toBe(1)
})
