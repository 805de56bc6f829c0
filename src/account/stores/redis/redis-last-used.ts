// The days of last use (last-used.ts) in the store for many machines: one hash, changed by a script
// alone.

import type { Day } from '../../../base/day.ts'
import type { StoreCircuitBreaker } from './store-circuit-breaker.ts'
import { isDay } from '../../keys/read-record.ts'
import * as script from './lua-scripts.ts'
import type { LastUsedStore } from '../../last-used.ts'

const usesName = 'iprisk:{uses}'

/** The days of last use behind a circuit breaker. */
export function createRedisLastUsedStore(breaker: StoreCircuitBreaker): LastUsedStore {
  return {
    note: async (keyId, day) => {
      await breaker.runScript(script.recordUseScript, [usesName], [keyId, day])
    },
    days: async () => {
      const reply = (await breaker.runScript(
        script.readUsesScript,
        [usesName],
        [],
      )) as readonly string[]
      const days = new Map<string, Day>()
      for (let i = 0; i + 1 < reply.length; i += 2) {
        const day = Number(reply[i + 1])
        if (isDay(day)) days.set(reply[i] ?? '', day as Day)
      }
      return days
    },
  }
}
