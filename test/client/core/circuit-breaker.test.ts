// When the circuit opens, how long it stays so, and what a probe does.

import { expect, it } from 'vitest'
import { type Admission, createCircuitBreaker } from '../../../src/client/core/circuit-breaker.ts'

function breaker() {
  const clock = { now: 1, opened: 0 }
  const circuit = createCircuitBreaker({
    failures: 3,
    openMs: 1000,
    now: () => clock.now,
    onOpen: () => (clock.opened += 1),
  })
  const fail = (times: number): void => {
    for (let i = 0; i < times; i++) circuit.fail(admitted())
  }
  const isAdmitted = (): boolean => circuit.admit() !== undefined
  const admitted = (): Admission => {
    const admission = circuit.admit()
    expect(admission).toBeDefined()
    return admission!
  }
  return { circuit, clock, fail, admitted, isAdmitted }
}

it('opens after failures in a row only', () => {
  const { circuit, fail, isAdmitted } = breaker()
  fail(2)
  circuit.succeed()
  fail(2)
  fail(1)
  expect(isAdmitted()).toBe(false)
})

it('lets one probe out when its time is over, and closes when that succeeds', () => {
  const { circuit, clock, fail, isAdmitted } = breaker()
  fail(3)
  clock.now += 999
  expect(isAdmitted()).toBe(false)
  clock.now += 1
  expect([isAdmitted(), isAdmitted()]).toEqual([true, false])
  circuit.succeed()
  expect([isAdmitted(), isAdmitted()]).toEqual([true, true])
})

it('stays open for twice as long each time, 5 s at most', () => {
  const { circuit, clock, fail } = breaker()
  fail(3)
  const waits: number[] = []
  for (let probe = 0; probe < 5; probe++) {
    const from = clock.now
    let admission: Admission | undefined
    while ((admission = circuit.admit()) === undefined) clock.now += 500
    waits.push(clock.now - from)
    circuit.fail(admission)
  }
  expect(waits).toEqual([1000, 2000, 4000, 5000, 5000])
  expect(clock.opened).toBe(6)
})

it('lets another probe out where one was withdrawn', () => {
  const { circuit, clock, fail, admitted, isAdmitted } = breaker()
  fail(3)
  clock.now += 1000
  circuit.withdraw(admitted())
  expect(isAdmitted()).toBe(true)
})

it('takes late ends of requests that were under way for nothing new', () => {
  const { circuit, clock, admitted, isAdmitted } = breaker()
  const early = Array.from({ length: 10 }, admitted)
  for (const one of early.slice(0, 5)) circuit.fail(one)
  expect(clock.opened).toBe(1)
  clock.now += 1000
  const probe = admitted()
  // Neither frees the place of the probe, nor counts as its failure.
  circuit.withdraw(early[5]!)
  circuit.fail(early[6]!)
  expect([clock.opened, isAdmitted()]).toEqual([1, false])
  circuit.fail(probe)
  expect(clock.opened).toBe(2)
})
