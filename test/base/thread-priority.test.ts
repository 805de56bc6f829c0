// What the system says of this thread's slices before and after it has asked for short ones.

import { getPriority, setPriority } from 'node:os'
import { expect, it } from 'vitest'
import { useShortTimeSlices, setLowestPriority } from '../../src/base/thread-priority.ts'
import { hasSlices, schedOf } from './thread-scheduling.ts'

const own = 'thread-self'

it.runIf(hasSlices)('has slices of a tenth of a millisecond, and its niceness as before', () => {
  setPriority(0, Math.min(18, getPriority(0) + 1))
  const nice = getPriority(0)
  const policy = schedOf(own, 'policy')
  expect(schedOf(own, 'se.slice')).toBeGreaterThan(100_000)
  useShortTimeSlices()
  expect(schedOf(own, 'se.slice')).toBe(100_000)
  expect([schedOf(own, 'policy'), getPriority(0)]).toEqual([policy, nice])
  setLowestPriority()
  expect(schedOf(own, 'se.slice')).toBe(100_000)
  expect([schedOf(own, 'policy'), getPriority(0)]).toEqual([policy, 19])
})
