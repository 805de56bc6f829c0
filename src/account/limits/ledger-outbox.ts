// What a ledger's counts are to change by some time soon: units given back (below 0), or charged
// (above). They wait while the ledger is out of reach, and what was refused or not sent waits again;
// what may have been done is never repeated. Not for leases, which somebody waits for.
//
// Invariants: what waits of one key and month is one posting, and goes behind a charge that is under
// way: a unit that comes to nothing is never given back before it is charged. At most `storeFanOut`
// are under way, so that a hundred thousand keys are no flood.

import { IpriskError } from '../../base/coded-error.ts'
import { storeConcurrencyMax } from '../../base/limits.ts'
import type { Month } from './quota-period.ts'

interface PendingChange {
  readonly keyId: string
  readonly month: Month
  readonly by: number
}

export interface LedgerOutbox {
  readonly add: (keyId: string, month: Month, by: number) => void
  /** Sends what waits; to be called again and again. */
  readonly flush: () => void
  /** Whether some have not been sent yet. */
  readonly hasPending: () => boolean
}

export function createLedgerOutbox(options: {
  /** Fails with a `retryable` error exactly where nothing was done. */
  readonly post: (keyId: string, month: Month, by: number) => Promise<void>
  readonly down: () => boolean
  /** Takes each piece of work, to wait for it and to tell of its failure. */
  readonly follow: (work: Promise<void>) => void
}): LedgerOutbox {
  const { post, down, follow } = options
  const waiting = new Map<string, PendingChange>()
  /** Of which a charge is under way. */
  const charging = new Set<string>()
  let underWay = 0

  const add: LedgerOutbox['add'] = (keyId, month, by) => {
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
    // After a failure the next tick tries.
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

/** Waits for all work that is under way, and what comes of it meanwhile; but no longer than so. */
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
