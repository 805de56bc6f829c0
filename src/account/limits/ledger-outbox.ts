// Pending changes to the ledger: units returned (below 0) or charged (above 0). They wait while the
// ledger is away. A change that certainly failed is retried; one that may have been made is not.
//
// Invariants: changes of one key and month are summed, and sent only after a charge of that key and
// month has ended, so that no unit is refunded before it is charged. At most `storeConcurrencyMax`
// are in flight.

import { IpriskError } from '../../base/coded-error.ts'
import { storeConcurrencyMax } from '../../base/limits.ts'
import type { Month } from './quota-period.ts'

interface PendingChange {
  readonly keyId: string
  readonly month: Month
  readonly by: number
}

export type LedgerOutbox = ReturnType<typeof createLedgerOutbox>

export function createLedgerOutbox(options: {
  /** Throws a `retryable` error only if nothing was done. */
  readonly post: (keyId: string, month: Month, by: number) => Promise<void>
  readonly down: () => boolean
  /** Called with each change in flight, to report its failure. */
  readonly follow: (work: Promise<void>) => void
}) {
  const { post, down, follow } = options
  const waiting = new Map<string, PendingChange>()
  const charging = new Set<string>()
  let underWay = 0

  const add = (keyId: string, month: Month, by: number): void => {
    const name = `${month} ${keyId}`
    const sum = (waiting.get(name)?.by ?? 0) + by
    if (sum === 0) waiting.delete(name)
    else waiting.set(name, { keyId, month, by: sum })
  }
  const postOne = async (name: string, { keyId, month, by }: PendingChange): Promise<void> => {
    try {
      await post(keyId, month, by)
    } catch (error) {
      if (error instanceof IpriskError && error.retryable) add(keyId, month, by)
      throw error
    } finally {
      underWay -= 1
      if (by > 0) charging.delete(name)
    }
    // After a failure the next tick tries again.
    flush()
  }
  const flush = (): void => {
    if (down()) return
    for (const [name, change] of waiting) {
      if (underWay >= storeConcurrencyMax) return
      if (charging.has(name)) continue
      waiting.delete(name)
      underWay += 1
      if (change.by > 0) charging.add(name)
      follow(postOne(name, change))
    }
  }
  return { add, flush, hasPending: () => waiting.size > 0 }
}

/** Waits at most `ms` for all work in flight, including new work. */
export async function awaitInFlight(
  underWay: ReadonlySet<Promise<void>>,
  ms: number,
): Promise<void> {
  const deadlineMs = performance.now() + ms
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  while (underWay.size > 0 && performance.now() < deadlineMs) {
    await Promise.race([late, ...underWay])
  }
  clearTimeout(timer)
}
