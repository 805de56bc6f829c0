// On which day a key was last used: one write a key, worker and day, in the background. The keyring
// verifies even a warm value once a day (keyring.ts) and calls this then.
//
// It means that a caller proved, on that UTC day, to hold a secret of the key. The day is that of
// the worker's clock, at most one refresh late. A worker killed within `settleMs` of a key's first
// use of a day loses that note.
//
// Kept among the counters as `used <key id>` → day. Invariant: a day never falls, so that workers
// on both sides of midnight cannot set each other back.

import { mapInParallel } from '../base/concurrency.ts'
import { type Day, dayOf } from '../base/day.ts'
import { storeConcurrencyMax } from '../base/limits.ts'
import { isDay } from './keys/read-record.ts'
import { type CounterStore, raiseCounter } from './limits/quota-ledger.ts'

const prefix = 'used '

/** Keys used for the first time within it are written together. */
const settleMs = 100
const againMs = 10_000
/** Each failed try means that another process wrote the same key. */
const triesMax = 100

export interface LastUsedStore {
  /** Keeps the day unless a later one is kept. */
  readonly note: (keyId: string, day: Day) => Promise<void>
  readonly days: () => Promise<ReadonlyMap<string, Day>>
}

export function createLastUsedStore(counters: CounterStore): LastUsedStore {
  return {
    note: async (keyId, day) => {
      await raiseCounter(counters, { name: prefix + keyId, value: day, triesMax })
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

/** Failures to write are not reported: the worker's other work on the store reports them. */
export function createLastUsedRecorder(store: Pick<LastUsedStore, 'note'>) {
  const noted = new Map<string, Day>()
  const pending = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  const writeLater = (ms: number): void => {
    timer ??= setTimeout(() => void write(), ms).unref()
  }
  const write = async (): Promise<void> => {
    const keyIds = [...pending]
    pending.clear()
    // Just after midnight every key is used for the first time.
    let failed = false
    await mapInParallel(keyIds, storeConcurrencyMax, async (keyId) => {
      try {
        await store.note(keyId, noted.get(keyId)!)
      } catch {
        failed = true
        pending.add(keyId)
      }
    })
    timer = undefined
    if (pending.size > 0) writeLater(failed ? againMs : settleMs)
  }
  return {
    recordUse: (keyId: string, nowMs: number): void => {
      const day = dayOf(nowMs)
      if ((noted.get(keyId) ?? -1) >= day) return
      noted.set(keyId, day)
      pending.add(keyId)
      writeLater(settleMs)
    },
  }
}
