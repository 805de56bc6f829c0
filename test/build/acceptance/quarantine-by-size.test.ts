import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type DatedSize,
  judgeFeedSize,
  lowerMedian,
} from '../../../build/acceptance/quarantine-by-size.ts'
import type { Day } from '../../../src/base/day.ts'

const at = (day: number): Day => day as Day

/** Runs a feed's sizes through acceptance, one a day; `.` passes, `h` is held, `A` is accepted. */
function run(sizes: readonly number[], days: readonly number[] = sizes.map((_, n) => n)): string {
  let past: number[] = []
  let held: readonly DatedSize[] = []
  return sizes
    .map((size, n) => {
      const judged = judgeFeedSize({ size, day: at(days[n] ?? n), past: past.slice(-5), held })
      if (judged.kind === 'held') {
        held = judged.held
        return 'h'
      }
      past = judged.kind === 'accepted' ? [size] : [...past, size]
      held = []
      return judged.kind === 'accepted' ? 'A' : '.'
    })
    .join('')
}

describe('judgeLevel', () => {
  it.each([
    ['a feed that is as it was', [300, 300, 290, 310, 300], '.....'],
    ['one that shrank to a tenth and recovered', [300, 300, 300, 30, 300, 300], '...h..'],
    ['half exactly', [100, 50], '.h'],
    ['just over half', [100, 51], '..'],
    ['threefold exactly', [100, 300], '.h'],
    ['just under threefold', [100, 299], '..'],
    ['a new size, said on three days', [300, 300, 26, 25, 27, 26, 300], '..hhA.h'],
    ['growth, said on three days', [100, 400, 420, 410, 400], '.hhA.'],
    ['three days that agree on nothing', [300, 30, 100, 10, 11, 12], '.hhhhA'],
    ['one spike does not move the median', [1026, 1100, 1096, 885, 872, 1926, 946], '.......'],
    ['a slow decline to a third', [900, 700, 600, 500, 400, 350, 300], '.......'],
    ['a list of a few', [4, 1, 5, 2], '....'],
    ['half of a list of a few, four less', [8, 4], '..'],
    ['half of a list of a few, five less', [10, 5], '.h'],
    ['a first snapshot of whatever size', [1], '.'],
  ])('%s', (_title, sizes, expected) => {
    expect(run(sizes)).toBe(expected)
  })

  it('counts days, not builds: twenty builds of one fetch prove nothing', () => {
    const sizes = [300, 30, 30, 30, 30, 30, 30]
    expect(run(sizes, [1, 2, 2, 2, 2, 3, 4])).toBe('.hhhhhA')
  })

  it('says what it saw', () => {
    const past = [300, 300, 310, 290, 300]
    const judged = judgeFeedSize({ size: 26, day: at(9), past, held: [] })
    expect(judged).toMatchObject({
      kind: 'held',
      reason: 'it shrank by half: 26 entries, where the median of its last 5 snapshots is 300',
    })
  })

  it('holds nothing within the bounds, everything outside, and never for more than two days', () => {
    const size = fc.integer({ min: 20, max: 1_000_000 })
    fc.assert(
      fc.property(fc.array(size, { minLength: 1, maxLength: 5 }), size, (past, now) => {
        const base = lowerMedian(past) ?? 0
        const held = judgeFeedSize({ size: now, day: at(1), past, held: [] }).kind === 'held'
        const outside = now <= base / 2 || now >= base * 3
        expect(held).toBe(outside && Math.abs(now - base) >= 5)
        expect(run([...past, now, now, now]).slice(past.length)).not.toContain('hhh')
      }),
      { numRuns: 2000 },
    )
  })
})
