// Who may ask the store for a machine's next refill: one worker at a time, at any instant of the
// machine's clock, whose milliseconds come round at 2^32. Many processes at once are
// local-balance.server.test.ts.

import { describe, expect, it } from 'vitest'
import {
  applyRefill,
  balanceWords,
  claimRefill,
} from '../../../../src/account/limits/local-balance.ts'
import { rateAnswerMsMax } from '../../../../src/base/limits.ts'

const roundMs = 2 ** 32

describe('the right to ask for a refill', () => {
  it.each([0, 1000, roundMs / 2 - 1, roundMs / 2, roundMs - 30_000, roundMs - 1, roundMs + 5])(
    'is had by the first, and by the next when the time for an answer is over: at %i ms',
    (nowMs) => {
      const { words } = balanceWords(new Int32Array(2))
      expect(claimRefill(words, 0, nowMs)).not.toBe(0)
      expect(claimRefill(words, 0, nowMs)).toBe(0)
      expect(claimRefill(words, 0, nowMs + rateAnswerMsMax - 1)).toBe(0)
      expect(claimRefill(words, 0, nowMs + rateAnswerMsMax)).not.toBe(0)
    },
  )

  it('is had again after the answer and its pause, and a late answer counts no more', () => {
    const memory = balanceWords(new Int32Array(2))
    const [machineMs, pauseMs] = [5000, 20]
    const claim = claimRefill(memory.words, 0, machineMs)
    const answer = { claim, granted: 30, most: 25, machineMs, pauseMs }
    expect(applyRefill(memory, 0, answer)).toBe(true)
    expect(applyRefill(memory, 0, answer)).toBe(false)
    expect(memory.words[0]).toBe(25)
    expect(claimRefill(memory.words, 0, machineMs + pauseMs - 1)).toBe(0)
    expect(claimRefill(memory.words, 0, machineMs + pauseMs)).not.toBe(0)
  })
})
