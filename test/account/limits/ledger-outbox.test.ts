// Units on their way to a ledger, on one that the test plays: nothing is lost that was not sent,
// nothing is repeated that may have been done, and many keys are no flood.

import { describe, expect, it } from 'vitest'
import { monthOf } from '../../../src/account/limits/quota-period.ts'
import { type LedgerOutbox, createLedgerOutbox } from '../../../src/account/limits/ledger-outbox.ts'
import { IpriskError } from '../../../src/base/coded-error.ts'
import { storeConcurrencyMax } from '../../../src/base/limits.ts'
import { turn } from './limiter-simulator.ts'

const august = monthOf(Date.UTC(2026, 7, 22))
const july = monthOf(Date.UTC(2026, 6, 22))
const failure = (retryable: boolean): IpriskError =>
  new IpriskError({ code: 'store_failed', message: 'no', fault: 'environment', retryable })

function ledger(): {
  readonly postings: LedgerOutbox
  readonly asked: string[]
  readonly state: { down: boolean; error: Error | undefined; underWayMax: number }
} {
  const state = { down: false, error: undefined as Error | undefined, underWayMax: 0 }
  const asked: string[] = []
  let underWay = 0
  const postings = createLedgerOutbox({
    post: async (keyId, month, units) => {
      asked.push(`${keyId} ${month - august} ${units}`)
      underWay += 1
      state.underWayMax = Math.max(state.underWayMax, underWay)
      await turn()
      underWay -= 1
      if (state.error !== undefined) throw state.error
    },
    down: () => state.down,
    follow: (work) => void work.catch(() => undefined),
  })
  return { postings, asked, state }
}

describe('postings', () => {
  it('wait for a ledger that is away, one for each key and month', async () => {
    const { postings, asked, state } = ledger()
    state.down = true
    for (const units of [5, 0, 7]) postings.add('a', august, units)
    postings.add('a', july, 1)
    postings.add('b', august, 0)
    postings.flush()
    expect([asked, postings.hasPending()]).toEqual([[], true])
    state.down = false
    postings.flush()
    await turn()
    expect([asked, postings.hasPending()]).toEqual([['a 0 12', 'a -1 1'], false])
  })

  it('wait again where nothing was done, and are not repeated where nobody knows', async () => {
    const { postings, asked, state } = ledger()
    state.error = failure(true)
    postings.add('a', august, 5)
    postings.flush()
    await turn()
    await turn()
    expect([asked.length, postings.hasPending()]).toEqual([1, true])
    state.error = failure(false)
    postings.flush()
    await turn()
    await turn()
    expect([asked.length, postings.hasPending()]).toEqual([2, false])
  })

  it('of one key and month go one after the other, and what cancels out does not go', async () => {
    const { postings, asked, state } = ledger()
    postings.add('a', august, 1)
    postings.flush()
    // Refunded while it is being charged: it must not arrive first.
    postings.add('a', august, -1)
    postings.flush()
    expect(asked).toEqual(['a 0 1'])
    while (postings.hasPending()) await turn()
    expect(asked).toEqual(['a 0 1', 'a 0 -1'])
    state.down = true
    for (const by of [7, -7]) postings.add('a', august, by)
    expect(postings.hasPending()).toBe(false)
  })

  it('of many keys are sent some at a time, each once', async () => {
    const { postings, asked, state } = ledger()
    const keys = 10 * storeConcurrencyMax + 3
    for (let i = 0; i < keys; i += 1) postings.add(`key${i}`, august, 1)
    postings.flush()
    postings.flush()
    while (postings.hasPending()) await turn()
    await turn()
    expect(new Set(asked).size).toBe(keys)
    expect(asked).toHaveLength(keys)
    expect(state.underWayMax).toBe(storeConcurrencyMax)
  })
})
