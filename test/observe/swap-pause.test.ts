// A step that waits and one that computes hold a loop up alike, by the clock only.

import { expect, it } from 'vitest'
import { maxPause, noPause, timeStep } from '../../src/observe/loop-lag.ts'

const wait = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
const compute = (ms: number): void => {
  const from = process.cpuUsage()
  for (let used = 0; used < ms * 1000;) {
    const { user, system } = process.cpuUsage(from)
    used = user + system
  }
}

it('tells what a step took by the clock, and what it computed', () => {
  const waited = timeStep(() => wait(200))
  const computed = timeStep(() => {
    compute(100)
    return 'done'
  })
  expect(waited.pause.ms).toBeGreaterThanOrEqual(199)
  expect(waited.pause.cpuMs).toBeLessThan(100)
  expect(computed.result).toBe('done')
  expect(computed.pause.cpuMs).toBeGreaterThanOrEqual(100)
})

it('keeps the larger of each figure', () => {
  const both = maxPause({ ms: 1, cpuMs: 4 }, { ms: 2, cpuMs: 3 })
  expect(maxPause(noPause, both)).toEqual({ ms: 2, cpuMs: 4 })
})
