// What the system says of this thread's slices before and after it has asked for short ones, and of
// the threads of a program that was started at the lowest priority.

import { execFileSync } from 'node:child_process'
import { getPriority, setPriority } from 'node:os'
import { afterEach, expect, it, vi } from 'vitest'
import {
  lowestPriorityCommand,
  useShortTimeSlices,
  setLowestPriority,
} from '../../../src/base/system/thread-priority.ts'
import { hasSlices, schedOf } from './thread-scheduling.ts'

const own = 'thread-self'

afterEach(() => vi.unstubAllEnvs())

it.runIf(process.platform === 'linux')('is the lowest of all threads of a program', () => {
  const program = `
    const { readdirSync } = require('node:fs')
    const threads = readdirSync('/proc/self/task').map(Number)
    console.log(JSON.stringify(threads.map((thread) => require('node:os').getPriority(thread))))
  `
  const [nice = '', ...args] = lowestPriorityCommand([process.execPath, '-e', program])
  const priorities = JSON.parse(execFileSync(nice, args, { encoding: 'utf8' })) as number[]
  // Those of V8 began before the program did.
  expect(priorities.length).toBeGreaterThan(1)
  expect(new Set(priorities)).toEqual(new Set([19]))
})

it('leaves a command as it is where no program can lower it', () => {
  vi.stubEnv('PATH', '/nonexistent')
  expect(lowestPriorityCommand(['node', 'x'])).toEqual(['node', 'x'])
})

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
