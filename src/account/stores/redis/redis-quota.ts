// The ledger of quotas in the store for many machines: one counter a key and month, changed by
// scripts alone, so that the last units go to one lease however many machines ask. What a lease
// gets is `leaseGrantUnits` in Lua.
//
// Invariants: those of quota-ledger.ts. What a lease grants after its asker has given up is told; a
// giving back of which nothing was heard is never repeated: its units stay taken.

import { IpriskError } from '../../../base/coded-error.ts'
import { leaseShare, storeConcurrencyMax } from '../../../base/limits.ts'
import type { QuotaLedger } from '../../limits/quota-ledger.ts'
import type { StoreCircuitBreaker } from './store-circuit-breaker.ts'
import { type Month, formatMonth } from '../../limits/quota-period.ts'
import * as script from './lua-scripts.ts'

const counterName = (keyId: string, month: Month): string =>
  `iprisk:{${keyId}}:quota:${formatMonth(month)}`
const indexName = (month: Month): string => `iprisk:{quota:${formatMonth(month)}}`

/** `undefined` for a counter that is not a number. */
async function readCount(breaker: StoreCircuitBreaker, name: string): Promise<number | undefined> {
  const reply = await breaker.runScript(script.readCounterScript, [name], []).catch((error) => {
    if (error instanceof IpriskError && error.code === 'store_failed') return undefined
    throw error
  })
  const count = Number(reply ?? NaN)
  return Number.isSafeInteger(count) ? count : undefined
}

/** The ledger behind a circuit breaker, which `close` leaves open: others use it. */
export function createRedisQuotaLedger(breaker: StoreCircuitBreaker): QuotaLedger {
  /** Keys of which the index knows; of one month. */
  const noted = { month: -1, ids: new Set<string>() }

  /** The index has every key before it has a counter. */
  async function note(keyId: string, month: Month): Promise<void> {
    if (noted.month === month && noted.ids.has(keyId)) return
    await breaker.runScript(script.addMemberScript, [indexName(month)], [keyId])
    if (noted.month !== month) noted.ids.clear()
    noted.month = month
    noted.ids.add(keyId)
  }

  async function giveBack(keyId: string, month: Month, units: number): Promise<void> {
    const left = await breaker.runScript(
      script.returnUnitsScript,
      [counterName(keyId, month)],
      [units],
    )
    if (left !== -1) return
    throw new IpriskError({
      code: 'store_lost_units',
      message:
        `The store has fewer units of the key ${keyId} than were leased from it: it has lost ` +
        'what it had acknowledged, and may grant that once more. Let it write its log before it ' +
        'answers (appendonly yes, appendfsync always) and never evict (maxmemory-policy noeviction).',
      fault: 'environment',
    })
  }

  return {
    lease: async ({ keyId, month, limit, want, need, onLate }) => {
      await note(keyId, month)
      const args = [limit, want, need, leaseShare]
      const hear = (reply: unknown): void => onLate?.((reply as [number, number])[0])
      const reply = await breaker.runScript(
        script.leaseScript,
        [counterName(keyId, month)],
        args,
        hear,
      )
      const [granted, remaining] = reply as [number, number]
      return { granted, remaining }
    },
    returnUnits: giveBack,
    charge: async (keyId, month, units) => {
      await note(keyId, month)
      await breaker.runScript(script.chargeScript, [counterName(keyId, month)], [units])
    },
    usage: async (month) => {
      const ids = (await breaker.runScript(
        script.membersScript,
        [indexName(month)],
        [],
      )) as string[]
      const usage = new Map<string, number>()
      for (let at = 0; at < ids.length; at += storeConcurrencyMax) {
        const some = ids.slice(at, at + storeConcurrencyMax)
        const counts = await Promise.all(
          some.map((id) => readCount(breaker, counterName(id, month))),
        )
        for (const [i, keyId] of some.entries()) {
          const count = counts[i]
          if (count !== undefined) usage.set(keyId, count)
        }
      }
      return usage
    },
    down: breaker.down,
    close: async () => undefined,
  }
}
