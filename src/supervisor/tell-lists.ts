// Makes every worker answer with own lists that are compiled anew, and waits until all of them say
// so, those that are being replaced too; one that starts gets them with its table.

import { listsAcknowledgeMs } from '../base/limits.ts'
import type { ListFile } from '../table/served-table.ts'
import type { WorkerRegistry } from './worker-registry.ts'

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
