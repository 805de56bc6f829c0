// Units that are to be posted to a ledger some time soon: given back, or charged. They wait while the
// ledger is out of reach, and what was refused or not sent waits again; what may have been done is
// never repeated. Not for leases, which somebody waits for.
//
// Invariants: units of one key and month that wait are one posting; at most `storeFanOut` are under
// way, so that a hundred thousand keys are no flood.

import { IpriskError } from '../base/error.ts'
import { storeFanOut } from '../base/limits.ts'
import type { Month } from './period.ts'

interface Posting {
  readonly keyId: string
  readonly month: Month
  readonly units: number
}

export interface Postings {
  readonly add: (keyId: string, month: Month, units: number) => void
  /** Sends what waits; to be called again and again. */
  readonly send: () => void
  /** Whether some have not been sent yet. */
  readonly waiting: () => boolean
}

export function createPostings(options: {
  /** Fails with a `retryable` error exactly where nothing was done. */
  readonly post: (keyId: string, month: Month, units: number) => Promise<void>
  readonly down: () => boolean
  /** Takes each piece of work, to wait for it and to tell of its failure. */
  readonly follow: (work: Promise<void>) => void
}): Postings {
  const { post, down, follow } = options
  const waiting = new Map<string, Posting>()
  let underWay = 0

  const add: Postings['add'] = (keyId, month, units) => {
    if (units === 0) return
    const name = `${month} ${keyId}`
    const before = waiting.get(name)?.units ?? 0
    waiting.set(name, { keyId, month, units: before + units })
  }
  const one = async ({ keyId, month, units }: Posting): Promise<void> => {
    try {
      await post(keyId, month, units)
    } catch (error) {
      if (error instanceof IpriskError && error.retryable) add(keyId, month, units)
      throw error
    } finally {
      underWay -= 1
    }
    // After a failure the next tick tries.
    send()
  }
  const send = (): void => {
    if (down()) return
    for (const [name, posting] of waiting) {
      if (underWay >= storeFanOut) return
      waiting.delete(name)
      underWay += 1
      follow(one(posting))
    }
  }
  return { add, send, waiting: () => waiting.size > 0 }
}

/** Waits for all work that is under way, and what comes of it meanwhile; but no longer than so. */
export async function whenDone(underWay: ReadonlySet<Promise<void>>, ms: number): Promise<void> {
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
