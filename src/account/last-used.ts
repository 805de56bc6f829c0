// The day on which a key was last used: one background write per key, worker and day. The keyring
// verifies even a warm value once a day and calls this then. The UTC day is that of the worker's
// clock. A worker killed within `settleMs` of a day's first use loses that note.
//
// Stored as the counter `used <key id>` → day. Days never fall, so workers agree at midnight.

import { mapInParallel } from '../base/concurrency.ts'
import { type Day, dayOf } from '../base/day.ts'
import { storeConcurrencyMax } from '../base/limits.ts'
import { isDay } from './keys/read-record.ts'
import { type CounterStore, raiseCounter } from './limits/quota-ledger.ts'

const prefix = 'used '

/** Keys first used within this time are written together. */
const settleMs = 100
const againMs = 10_000
/** A failed try means that another process wrote the same key. */
const triesMax = 100

export interface LastUsedStore {
  /** Keeps a later day. */
  readonly note: (keyId: string, day: Day) => Promise<void>
  readonly days: () => Promise<ReadonlyMap<string, Day>>
}

export const createLastUsedStore = (counters: CounterStore): LastUsedStore => ({
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
})

/** Failures are not reported: the worker's other store access reports them. */
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
    // Just after midnight all keys are written.
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
