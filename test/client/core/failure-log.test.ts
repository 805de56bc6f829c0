// When failures are logged, by a clock of the test's own: at once, once a minute, and when over.

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createFailureLog } from '../../../src/client/core/failure-log.ts'

let now = 0
let lines: string[] = []
let log: ReturnType<typeof createFailureLog>

beforeEach(() => {
  now = 5
  lines = []
  vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line))
  log = createFailureLog(() => now)
})
afterEach(() => vi.restoreAllMocks())

/** What was logged since the last call. */
const said = (): readonly string[] => lines.splice(0)

function failFor(seconds: number, everyMs = 1000): void {
  for (const until = now + seconds * 1000; now < until; now += everyMs) log.fail('outage', 'why')
}

it('logs an outage at once, each minute, and when it ends', () => {
  log.fail('outage', 'why')
  expect(said()).toEqual(['iprisk is unavailable; 1 request was not checked: "why"'])
  failFor(120)
  expect(said()).toEqual(['iprisk is unavailable; 62 requests were not checked in 60 s: "why"'])
  log.fail('outage', 'why')
  expect(said()).toEqual(['iprisk is unavailable; 122 requests were not checked in 120 s: "why"'])
  log.answered(false)
  expect(said()).toEqual(['iprisk answers again; 122 requests were not checked in 120 s'])
  log.answered(false)
  expect(said()).toEqual([])
})

it('logs no more than two lines a minute where failures and answers take turns', () => {
  for (let i = 0; i < 6000; i++) {
    now += 50
    log.fail('outage', 'why')
    log.answered(false)
  }
  // Five minutes.
  expect(lines.length).toBeLessThanOrEqual(12)
  const counts = lines.filter((line) => line.includes('again')).map((line) => /\d+/.exec(line)?.[0])
  now += 60_000
  lines = []
  log.answered(false)
  const total = [...counts, .../\d+/.exec(lines[0] ?? '0')!].reduce(
    (sum, one) => sum + Number(one),
    0,
  )
  expect(total).toBe(6000)
})

it('treats a rate as spent while refusals and answers alternate', () => {
  for (let i = 0; i < 100; i++) {
    now += 100
    log.fail('limited', 'why')
    log.answered(false)
  }
  expect(said()).toHaveLength(1)
  now += 10_000
  log.answered(false)
  expect(said()).toEqual(['iprisk answers again; 100 requests were not checked in 10 s'])
})

it('does not end a misconfiguration, or refused feedback, with an answer to a check', () => {
  log.fail('misconfigured', 'why')
  log.fail('feedback', 'why')
  expect(said()).toHaveLength(2)
  now += 100_000
  log.answered(false)
  expect(said()).toEqual([])
  log.fail('misconfigured', 'why')
  expect(said()).toEqual(['iprisk is misconfigured; 2 requests were not checked in 100 s: "why"'])
  log.answered(true)
  expect(said()).toEqual(['iprisk answers again; 1 report was not accepted'])
})

it('ends refused feedback with the next answer to feedback, however soon', () => {
  log.fail('feedback', 'why')
  log.answered(true)
  expect(said()[1]).toBe('iprisk answers again; 1 report was not accepted')
})

it('writes what a server says as one line', () => {
  log.fail('outage', 'a\nb\u001B[2J')
  expect(said()).toEqual([
    String.raw`iprisk is unavailable; 1 request was not checked: "a\nb\u001b[2J"`,
  ])
})
