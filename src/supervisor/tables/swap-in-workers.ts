// Swaps the table of every worker: each opens and compares it, then all swap.

import { environmentError } from '../../base/coded-error.ts'
import type { VerifiedTableFile } from '../../table/served-table.ts'
import { type LoopPause, maxPause, noPause } from '../../observe/loop-lag.ts'
import type { ToPrimary } from '../../worker/worker-messages.ts'
import { type WorkerRegistry, sendToWorker } from '../worker-registry.ts'

const openMs = 60_000

/**
 * Calls `use` once all have opened it. Returns the longest pause of a loop. Throws `swap_failed`;
 * then the old table stays.
 */
export async function swapTable(
  registry: WorkerRegistry,
  file: VerifiedTableFile,
  use: () => void,
): Promise<LoopPause> {
  const { table } = file
  let refusal = 'a worker does not answer'
  let refused = 0
  const isAnswer = (message: ToPrimary): boolean => {
    if (message.kind === 'refused' && message.table === table) {
      refused += 1
      refusal = message.message
      return true
    }
    return message.kind === 'opened' && message.table === table
  }
  const asked = [...registry.workers].filter((handle) => handle.started)
  // One by one: together they would slow each other and their clients.
  const until = performance.now() + openMs
  for (const handle of asked) {
    const ms = until - performance.now()
    const inTime = await registry.requestAll([handle], { kind: 'open', file }, { isAnswer, ms })
    if (inTime && refused === 0) continue
    throw environmentError('swap_failed', refusal)
  }
  use()
  for (const handle of registry.listening()) {
    if (!asked.includes(handle)) sendToWorker(handle, { kind: 'open', file })
  }
  let pause = noPause
  const isSwapped = (message: ToPrimary): boolean => {
    if (message.kind !== 'swapped' || message.table !== table) return false
    pause = maxPause(pause, message.pause)
    return true
  }
  await registry.requestAll(
    registry.listening(),
    { kind: 'swap', table },
    { isAnswer: isSwapped, ms: openMs },
  )
  return pause
}
