// When the next refresh is due. That it builds, and at what priority: swap.world.test.ts.

import { describe, expect, it } from 'vitest'
import { parseDurationMs } from '../../../src/base/duration.ts'
import { createLog } from '../../../src/base/log.ts'
import {
  type Refresh,
  refreshDelayMs,
  startRefresh,
} from '../../../src/supervisor/tables/refresh.ts'
import { eventually } from '../../eventually.ts'

const hour = 3_600_000

describe('delayOf', () => {
  it('is the whole span give or take a tenth while all goes well', () => {
    expect(refreshDelayMs({ everyMs: hour, failures: 0, random: 0.5 })).toBe(hour)
    expect(refreshDelayMs({ everyMs: hour, failures: 0, random: 0 })).toBeCloseTo(0.9 * hour, 3)
    expect(refreshDelayMs({ everyMs: hour, failures: 0, random: 1 })).toBeCloseTo(1.1 * hour, 3)
  })

  it('is shorter after a failure, twice as long each time, and never longer than the span', () => {
    const minutes = [1, 2, 3, 4, 5, 60].map(
      (failures) => refreshDelayMs({ everyMs: hour, failures, random: 0.5 }) / 60_000,
    )
    expect(minutes).toEqual([7.5, 15, 30, 60, 60, 60])
    expect(refreshDelayMs({ everyMs: 120_000, failures: 1, random: 0.5 })).toBe(60_000)
  })
})

describe('startRefresh', () => {
  function refreshing(everyMs: number, builtMs: number | undefined, program: string): Refresh {
    const log = createLog({ level: 'fatal', name: 'test', pretty: false, write: () => undefined })
    const done = (): void => undefined
    return startRefresh({ everyMs, builtMs, command: ['-e', program], log, done })
  }

  it('waits for a span that no timer takes', async () => {
    const refresh = refreshing(30 * 24 * hour, Date.now(), '')
    // A timer that overflowed would run at once.
    await new Promise((resolve) => setTimeout(resolve, 100))
    const { runs, running, next_at: nextAt } = refresh.status()
    refresh.stop()
    expect({ runs, running }).toEqual({ runs: 0, running: false })
    expect(Date.parse(nextAt!)).toBeGreaterThan(Date.now() + 26 * 24 * hour)
  })

  it('says what ended a build that was killed', async () => {
    const program = 'process.stderr.write("half\\n", () => process.kill(process.pid, "SIGKILL"))'
    const refresh = refreshing(hour, undefined, program)
    const failure = await eventually(() => refresh.status().last_failure ?? undefined)
    refresh.stop()
    expect(failure.reason).toBe('The build was ended by SIGKILL; its last words: half')
  })
})

describe('durationMs', () => {
  it.each([
    ['off', 0],
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['1h', hour],
    ['1d', 24 * hour],
    ['0h', NaN],
    ['1', NaN],
    ['h', NaN],
    ['-1h', NaN],
    ['1.5h', NaN],
  ])('%s', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms)
  })
})
