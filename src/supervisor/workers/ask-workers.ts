// Makes every worker take in something new and waits until all of them say so: keys that a command
// has changed, own lists that are compiled anew. Workers that are being replaced are asked, too, for
// they answer until they end; one that starts answers when it listens; one that has no table yet
// reads keys later and gets lists with its table.

import { keyAcknowledgeMs, listsAcknowledgeMs } from '../../base/limits.ts'
import type { ListFile } from '../../http/exchange/served-table.ts'
import type { ToPrimary } from './worker-messages.ts'
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

/** Resolves to whether all workers have taken them, or have ended. */
export async function tellLists(
  registry: WorkerRegistry,
  file: ListFile | undefined,
): Promise<boolean> {
  const version = file?.version ?? 0
  let failed = false
  const asked = [...registry.workers].filter(({ started }) => started)
  const inTime = await registry.requestAll(
    asked,
    { kind: 'lists', file },
    {
      isAnswer: (message) => {
        if (message.kind !== 'listsUsed' || message.version !== version) return false
        failed ||= !message.done
        return true
      },
      ms: listsAcknowledgeMs,
    },
  )
  return inTime && !failed
}
