// On which day a key was last used. The keyring verifies a value once a day even where it is warm
// (keyring.ts), and says so here; that costs no request anything. Here it becomes one write a key,
// a worker and a day, in the background.
//
// What it means: a caller proved, on that UTC day, to hold a secret of the key; also where its plan
// allowed nothing. Precision: the day, as the worker's clock had it, at most one refresh late. A
// worker killed within `settleMs` of a key's first use of a day loses that note; the next first
// use, by another worker or on another day, brings it.
//
// Kept among the counters as `used <key id>` → day. Invariant: a day never falls, so that workers
// on both sides of midnight cannot set each other back.

import { type Day, dayOf } from '../base/day.ts'
import { storeConcurrencyMax } from '../base/limits.ts'
import { isDay } from './keys/read-record.ts'
import type { CounterStore } from './limits/quota-ledger.ts'

const prefix = 'used '

/** Keys used for the first time within it are written together. */
const settleMs = 100
/** A note that could not be written is tried again after this. */
const againMs = 10_000
/** Each failed try means that another process has written the same key just then. */
const triesMax = 100

/** What notes are written to; a store for many machines implements the same two. */
export interface LastUsedStore {
  /** Keeps the day unless a later one is kept. */
  readonly note: (keyId: string, day: Day) => Promise<void>
  /** The last day of every key that was ever used. */
  readonly days: () => Promise<ReadonlyMap<string, Day>>
}

/** Days of last use, kept as counters. */
export function createLastUsedStore(counters: CounterStore): LastUsedStore {
  return {
    note: async (keyId, day) => {
      for (let tries = 0; tries < triesMax; tries += 1) {
        const before = counters.read(prefix + keyId)
        if (before.value >= day) return
        if (await counters.compareAndSwap(prefix + keyId, before, day)) return
      }
    },
    days: async () =>
      new Map(
        counters
          .list(prefix)
          .filter(([, day]) => isDay(day))
          .map(([name, day]) => [name.slice(prefix.length), day as Day] as const),
      ),
  }
}

export interface LastUsedRecorder {
  /** Off the hot path: a look at a map, and once a day and key a write in the background. */
  readonly recordUse: (keyId: string, nowMs: number) => void
}

/**
 * A worker's notes. Failures to write are not reported: its other work on the store reports them.
 */
export function createLastUsedRecorder(store: Pick<LastUsedStore, 'note'>): LastUsedRecorder {
  const noted = new Map<string, Day>()
  const pending = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  const writeLater = (ms: number): void => {
    timer ??= setTimeout(() => void write(), ms).unref()
  }
  const write = async (): Promise<void> => {
    const keyIds = [...pending]
    pending.clear()
    const write = (keyId: string): Promise<void> =>
      store.note(keyId, noted.get(keyId) ?? (0 as Day))
    // Just after midnight every key is used for the first time.
    let failed = false
    for (let at = 0; at < keyIds.length; at += storeConcurrencyMax) {
      const some = keyIds.slice(at, at + storeConcurrencyMax)
      const results = await Promise.allSettled(some.map(write))
      for (const [i, result] of results.entries()) {
        if (result.status === 'fulfilled') continue
        failed = true
        pending.add(some[i] ?? '')
      }
    }
    timer = undefined
    if (pending.size > 0) writeLater(failed ? againMs : settleMs)
  }
  return {
    recordUse: (keyId, nowMs) => {
      const day = dayOf(nowMs)
      if ((noted.get(keyId) ?? -1) >= day) return
      noted.set(keyId, day)
      pending.add(keyId)
      writeLater(settleMs)
    },
  }
}
