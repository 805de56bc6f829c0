// Makes every worker read the keys now, for a command that has changed them: it returns when all of
// them know. Workers that are being replaced are asked, too, for they answer until they end; one
// that starts answers when it listens; one that is not told its settings yet reads the keys later.

import { keyAcknowledgeMs } from '../base/limits.ts'
import type { ToPrimary } from '../worker/worker-messages.ts'
import type { WorkerRegistry } from './worker-registry.ts'

/** Resolves to whether all workers have read them, or have ended. */
export type ReadKeys = () => Promise<boolean>

export function createReadKeys(registry: WorkerRegistry): ReadKeys {
  let requests = 0
  return async () => {
    requests += 1
    const request = requests
    let failed = false
    const isAnswer = (message: ToPrimary): boolean => {
      if (message.kind !== 'keysRead' || message.request !== request) return false
      failed ||= !message.done
      return true
    }
    const asked = [...registry.workers].filter(({ started }) => started)
    const how = { isAnswer, ms: keyAcknowledgeMs }
    const inTime = await registry.requestAll(asked, { kind: 'readKeys', request }, how)
    return inTime && !failed
  }
}
