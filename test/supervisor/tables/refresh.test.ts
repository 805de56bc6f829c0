// When the next refresh is due. That it builds, and at what priority: swap.world.test.ts.

import { describe, expect, it } from 'vitest'
import { parseDurationMs } from '../../../src/base/time-text.ts'
import { feedsUnreachable } from '../../../src/base/coded-error.ts'
import { createLog } from '../../../src/base/log.ts'
import {
  type Refresh,
  catchUpDelayMs,
  refreshDelayMs,
  spawnBuild,
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

describe('catchUpDelayMs', () => {
  it('is some seconds after the first failure, twice as long each time, ten minutes at most', () => {
    const seconds = [1, 2, 3, 4, 7, 8, 60].map(
      (failures) => catchUpDelayMs({ failures, random: 0.5 }) / 1000,
    )
    expect(seconds).toEqual([5, 10, 20, 40, 320, 600, 600])
    expect(catchUpDelayMs({ failures: 1, random: 0 })).toBeCloseTo(4500, 3)
  })
})

describe('startRefresh', () => {
  it('catches up at once by a command of its own, and no more once that has succeeded', async () => {
    const log = createLog({ level: 'fatal', name: 'test', pretty: false, write: () => undefined })
    const done: string[] = []
    const refresh = startRefresh({
      everyMs: 0,
      builtMs: Date.now(),
      command: ['-e', 'process.exit(1)'],
      catchUp: { command: ['-e', ''], isBehind: () => false },
      log,
      done: () => void done.push('done'),
    })
    await eventually(() => done.length > 0)
    expect(refresh.status()).toMatchObject({ runs: 1, failures: 0, running: false, next_at: null })
    refresh.stop()
  })

  it.each([
    ['within seconds where nobody could be reached', `iprisk: ${feedsUnreachable}: x`, 1, 5 / 3600],
    ['as after a failed refresh where the table was refused', 'iprisk: not promoted', 1, 3],
    ['as after a failed refresh where the new table lacks feeds still', '', 0, 3],
  ] as const)('tries again %s', async (_, says, code, hours) => {
    const log = createLog({ level: 'fatal', name: 'test', pretty: false, write: () => undefined })
    const program = `process.stderr.write(${JSON.stringify(`${says}\n`)}, () => process.exit(${code}))`
    const refresh = startRefresh({
      everyMs: 0,
      builtMs: Date.now(),
      command: ['-e', 'process.exit(1)'],
      catchUp: { command: ['-e', program], isBehind: () => true },
      log,
      done: () => undefined,
    })
    const { next_at: nextAt } = await eventually(() => {
      const status = refresh.status()
      return status.runs === 1 && status.next_at !== null ? status : undefined
    })
    refresh.stop()
    const waits = (Date.parse(nextAt ?? '') - Date.now()) / hour
    expect(waits).toBeGreaterThan(0.8 * hours)
    expect(waits).toBeLessThan(1.2 * hours)
  })

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

  it('waits for one span where the table is of a day yet to come', () => {
    const refresh = refreshing(hour, Date.now() + 240 * hour, '')
    const { next_at: nextAt } = refresh.status()
    refresh.stop()
    expect(Date.parse(nextAt!)).toBeLessThan(Date.now() + 1.2 * hour)
  })

  it('runs when it is asked to, one at a time, and says how it goes', async () => {
    const program =
      'process.stderr.write("fetching\\nhalf done\\n"); process.stdin.destroy(); ' +
      'setTimeout(() => { process.stderr.write("iprisk: no\\n"); process.exitCode = 1 }, 300)'
    const refresh = refreshing(0, undefined, program)
    expect(refresh.view()).toEqual({ running: false, stage: null, last: null })
    expect(refresh.status()).toMatchObject({ runs: 0, next_at: null })
    expect([refresh.start(), refresh.start()]).toEqual([true, false])
    expect(refresh.view()).toMatchObject({ running: true, stage: null })
    await eventually(() => refresh.view().stage === 'half done')
    const { last, ...view } = await eventually(() => {
      const now = refresh.view()
      return now.last === null ? undefined : now
    })
    expect(view).toEqual({ running: false, stage: null })
    expect(last).toMatchObject({ outcome: 'failed', message: 'iprisk: no' })
    expect(refresh.start()).toBe(true)
    refresh.stop()
    expect(refresh.start()).toBe(false)
  })

  it('says what ended a build that was killed', async () => {
    const program = 'process.stderr.write("half\\n", () => process.kill(process.pid, "SIGKILL"))'
    const refresh = refreshing(hour, undefined, program)
    const failure = await eventually(() => refresh.status().last_failure ?? undefined)
    refresh.stop()
    expect(failure.reason).toBe('The build was ended by SIGKILL; its last line: half')
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

describe('spawnBuild', () => {
  const run = async (program: string, how: Parameters<typeof spawnBuild>[2] = {}) => {
    const said: string[] = []
    const { ended } = spawnBuild(['-e', program], (line) => said.push(line), how)
    return { said, ...(await ended) }
  }

  it('has the whole output, and the last line meanwhile', async () => {
    const program = `console.error('fetch (1.0 s)'); console.log('x'.repeat(200000))`
    const { said, output, reason } = await run(program)
    expect([said.at(-1), output.length, reason]).toEqual(['fetch (1.0 s)', 200_001, undefined])
  })

  it('says why it failed', async () => {
    const { reason } = await run(`console.error('iprisk: no history'); process.exit(2)`)
    expect(reason).toBe('iprisk: no history')
    const program = `console.error('days (1.0 s)'); process.kill(process.pid, 'SIGKILL')`
    expect((await run(program)).reason).toBe(
      'The build was ended by SIGKILL; its last line: days (1.0 s)',
    )
  })

  it('is stopped after its time, and with what it belongs to', async () => {
    const endless = 'setInterval(() => undefined, 1000)'
    const late = await run(endless, { timeout: 300, killSignal: 'SIGKILL' })
    expect(late.reason).toBe('It took too long and was stopped. Try again later.')
    const { reason } = await run(endless, { signal: AbortSignal.abort() })
    expect(reason).toBeDefined()
  })
})
