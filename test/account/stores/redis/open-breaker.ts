// A circuit breaker over a fake connection, closed after each test, and what it reports.

import { afterEach } from 'vitest'
import {
  openStoreCircuitBreaker,
  type StoreCircuitBreaker,
} from '../../../../src/account/stores/redis/store-circuit-breaker.ts'
import { readCounterScript } from '../../../../src/account/stores/redis/lua-scripts.ts'
import type { FakeConnection } from './fake-connection.ts'

let breaker: StoreCircuitBreaker | undefined
afterEach(async () => {
  await breaker?.close()
  breaker = undefined
})

export async function openBreaker(
  connection: FakeConnection,
  timeoutMs: number,
): Promise<{ readonly breaker: StoreCircuitBreaker; readonly reports: string[] }> {
  const reports: string[] = []
  breaker = await openStoreCircuitBreaker(connection, {
    timeoutMs,
    replicas: 0,
    onDown: (error) => reports.push(error.message),
    onUp: () => reports.push('up'),
  })
  return { breaker, reports }
}

export const askCounter = (
  on: StoreCircuitBreaker,
  late?: (reply: unknown) => void,
): Promise<unknown> => on.runScript(readCounterScript, ['{k}'], [], late)
