// The day of the last use: noted once a day, also for values that are warm, on real counters.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createKey } from '../../src/account/keys/issue-key.ts'
import { createKeyring } from '../../src/account/keyring.ts'
import {
  openLmdbCounterStore,
  openLmdbKeyStore,
} from '../../src/account/stores/lmdb/lmdb-stores.ts'
import type { CounterStore } from '../../src/account/limits/quota-ledger.ts'
import { newAllowance } from '../../src/account/limits/allowance.ts'
import { createLastUsedRecorder, createLastUsedStore } from '../../src/account/last-used.ts'
import type { Day } from '../../src/base/day.ts'
import { storeConcurrencyMax } from '../../src/base/limits.ts'
import { readSettings } from '../../src/config/settings.ts'

const day = (value: number): Day => value as Day
const msPerDay = 86_400_000

let state = ''
let counters: CounterStore
beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), 'iprisk-uses-'))
  counters = await openLmdbCounterStore(state)
})
afterEach(async () => {
  await counters.close()
  rmSync(state, { recursive: true })
})

describe('the store of uses', () => {
  it('keeps the latest day of each key, whoever writes first', async () => {
    const [one, other] = [
      createLastUsedStore(counters),
      createLastUsedStore(await openLmdbCounterStore(state)),
    ]
    expect(await one.days()).toEqual(new Map())
    await Promise.all([7, 9, 8, 9, 3].map((n, i) => (i % 2 ? one : other).note('a', day(n))))
    await one.note('b', day(5))
    expect(await other.days()).toEqual(new Map([['a', 9], ['b', 5]])) // prettier-ignore
  })

  it('is no part of what a month has used', async () => {
    await createLastUsedStore(counters).note('a', day(7))
    expect(counters.list('2026-08 ')).toEqual([])
  })
})

describe('the notes of a worker', () => {
  it('are one write a key and day, however often it is used', async () => {
    const note = vi.fn<() => Promise<void>>(async () => undefined)
    const { recordUse } = createLastUsedRecorder({ note })
    for (let i = 0; i < 1000; i += 1) recordUse('a', i)
    recordUse('b', 5)
    await vi.waitFor(() => expect(note.mock.calls).toEqual([['a', 0], ['b', 0]])) // prettier-ignore
    recordUse('a', msPerDay + 1)
    recordUse('a', 5)
    await vi.waitFor(() => expect(note.mock.calls.slice(2)).toEqual([['a', 1]]))
  })

  it('try again what could not be written', async () => {
    vi.useFakeTimers()
    try {
      const note = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error('gone'))
      createLastUsedRecorder({ note: note.mockResolvedValue(undefined) }).recordUse('a', 0)
      await vi.advanceTimersByTimeAsync(1000)
      expect(note).toHaveBeenCalledTimes(1)
      await vi.advanceTimersByTimeAsync(60_000)
      expect(note).toHaveBeenCalledTimes(2)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('notes of very many keys', () => {
  it('are written some at a time, each once', async () => {
    let underWay = 0
    let most = 0
    const seen: string[] = []
    const { recordUse } = createLastUsedRecorder({
      note: async (keyId) => {
        seen.push(keyId)
        underWay += 1
        most = Math.max(most, underWay)
        await new Promise((resolve) => setImmediate(resolve))
        underWay -= 1
      },
    })
    const keys = 3 * storeConcurrencyMax + 7
    for (let i = 0; i < keys; i += 1) recordUse(`key${i}`, 0)
    await vi.waitFor(() => expect(seen).toHaveLength(keys), 5000)
    expect(new Set(seen).size).toBe(keys)
    expect(most).toBe(storeConcurrencyMax)
  })
})

describe('the keyring', () => {
  it('tells the first use on each day, of warm values too, and no use of a bad one', async () => {
    const store = await openLmdbKeyStore(state)
    const { plans } = readSettings({ command: 'serve', flags: {}, environment: {}, cwd: state })
    const told: (readonly [string, number])[] = []
    const keyring = createKeyring({
      store,
      plans,
      limiter: { bind: newAllowance, release: () => undefined },
      onVerified: (...what) => void told.push(what),
    })
    const key = { name: '', plan: 'internal', apis: ['ip-risk'] } as const
    const { text, record } = await createKey(store, key, 1000)
    await new Promise((resolve) => setTimeout(resolve, 5))
    for (const now of [1000, 2000, msPerDay - 1, msPerDay, msPerDay + 200]) {
      await keyring.refresh(now)
      for (let i = 0; i < 3; i += 1) keyring.authenticate(`Bearer ${text}`)
      keyring.authenticate(`Bearer ${text.slice(0, -1)}0`)
    }
    expect(told).toEqual([[record.id, 1000], [record.id, msPerDay]]) // prettier-ignore
    await store.close()
  })
})
