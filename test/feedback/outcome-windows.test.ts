// The counts behind the list of reported addresses, beside their slow twin; what is one request;
// and that they are bounded.

import { describe, expect, it } from 'vitest'
import { countedOutcome, newOutcomeWindows } from '../../src/feedback/outcome-windows.ts'
import { plainWindows, randomOutcomes, startMs } from './plain-windows.ts'

const hourMs = 3_600_000

describe('abusive outcomes of an address', () => {
  it.each([1, 2, 3, 4, 5])('stand as the slow twin counts them (seed %i)', (seed) => {
    const [windows, plain] = [newOutcomeWindows(), plainWindows()]
    let entered = 0
    let cleared = 0
    for (const { visitor, outcome } of randomOutcomes(seed, 3000)) {
      const stands = windows.count(visitor, outcome)
      expect(stands).toEqual(plain.count(visitor, outcome))
      // Counting again, as after a crash, changes nothing.
      expect(windows.count(visitor, outcome)).toEqual(stands)
      entered += Number(stands.abusive === 5)
      cleared += Number(stands.abusive === 0 && outcome.request !== '')
    }
    expect(entered).toBeGreaterThan(100)
    expect(cleared).toBeGreaterThan(100)
  })

  it('are those of distinct requests; without an id one a minute counts', () => {
    const of = (atMs: number, requestId?: string) =>
      countedOutcome({
        address: '192.0.2.1',
        outcome: 'abusive',
        note: '',
        keyId: 'k1',
        receivedMs: startMs + hourMs,
        atMs,
        requestId,
      })
    const windows = newOutcomeWindows()
    const counts = [
      of(startMs, 'a'),
      of(startMs + 1, 'a'),
      of(startMs, 'b'),
      of(startMs),
      of(startMs + 59_999),
      of(startMs + 60_000),
      // The text of a minute is no request's.
      of(startMs, String(startMs / 60_000)),
    ].map((outcome) => windows.count('192.0.2.1', outcome).abusive)
    expect(counts).toEqual([1, 1, 2, 3, 3, 4, 5])
  })

  it.each([
    ['a day ago to the millisecond', { atMs: startMs, receivedMs: startMs + 24 * hourMs }, 0],
    ['just within the day', { atMs: startMs + 1, receivedMs: startMs + 24 * hourMs }, 1],
  ])('stand for a day: %s', (_, times, expected) => {
    expect(newOutcomeWindows().count('192.0.2.1', { request: 'r1', ...times }).abusive).toBe(
      expected,
    )
  })

  it('stand again a day after a legitimate one came in', () => {
    const windows = newOutcomeWindows()
    const at = (ms: number, request: string) =>
      windows.count('192.0.2.1', { request, atMs: startMs + ms, receivedMs: startMs + ms }).abusive
    at(0, '')
    for (let i = 0; i < 5; i++) expect(at(20 * hourMs + i, `r${i}`)).toBe(0)
    expect(at(24 * hourMs - 1, 'r5')).toBe(0)
    expect(at(24 * hourMs, 'r6')).toBe(5)
  })

  it('are forgotten of the addresses reported longest ago, above the limit, and that is counted', () => {
    const windows = newOutcomeWindows(10)
    const report = (visitor: number, request: string, hours = 0) =>
      windows.count(`192.0.2.${visitor}`, {
        request,
        atMs: startMs + hours * hourMs,
        receivedMs: startMs + hours * hourMs,
      }).abusive
    for (let i = 0; i < 10; i++) report(i, 'r1')
    expect([report(0, 'r2'), windows.takeForgotten()]).toEqual([2, 0])
    // Two go, for one more than there is room.
    report(10, 'r1')
    expect([windows.takeForgotten(), windows.takeForgotten()]).toEqual([2, 0])
    expect([report(0, 'r3'), report(3, 'r2'), report(1, 'r2')]).toEqual([3, 2, 1])
    windows.takeForgotten()
    // What is a day old is no loss.
    for (let i = 20; i < 40; i++) report(i, 'r1', 48)
    const lost = windows.takeForgotten()
    expect(lost).toBeGreaterThan(0)
    expect(lost).toBeLessThan(20)
  })
})
