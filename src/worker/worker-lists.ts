// The own lists that a worker answers with: maps each file that the primary has compiled, and frees
// the previous one.
// Invariant: a file is unmapped in a later turn of the loop than the one that replaced it; every
// answer is built within one turn, so nothing reads an unmapped page.

import { messageOf } from '../base/coded-error.ts'
import type { ListFile } from '../table/served-table.ts'
import { type MappedLists, mapLists } from '../lists/open-lists.ts'
import type { ToPrimary } from './worker-messages.ts'
import type { WorkerTable } from './worker-table.ts'

export type WorkerLists = ReturnType<typeof createWorkerLists>

export function createWorkerLists(parts: {
  readonly table: Pick<WorkerTable, 'useLists' | 'withholdUntilLists'>
  readonly send: (message: ToPrimary) => void
  readonly onFailure: (text: string) => void
}) {
  const { table, send, onFailure } = parts
  let current: { readonly file: ListFile; readonly mapped: MappedLists } | undefined
  const replace = (file: ListFile | undefined): void => {
    let done = false
    try {
      const old = current
      const mapped = file === undefined ? undefined : mapLists(file.path, file.version)
      current = file === undefined || mapped === undefined ? undefined : { file, mapped }
      table.useLists(mapped?.matcher)
      if (old !== undefined) setImmediate(old.mapped.unmap)
      done = true
    } finally {
      send({ kind: 'listsUsed', version: file?.version ?? 0, done })
    }
  }
  return {
    file: () => current?.file,
    /** From now on, and notifies the primary; an unusable one changes nothing. */
    use: (file: ListFile | undefined): void => {
      try {
        replace(file)
      } catch (error) {
        onFailure(`Own lists cannot be used; the previous ones stay in use: ${messageOf(error)}`)
      }
    },
    /**
     * The same for a worker that is not listening yet. Throws for an unusable file, because
     * answering without lists would let attackers in; while they are unknown, no table answers.
     */
    begin: (file: ListFile | 'unknown' | undefined): void => {
      if (file === 'unknown') table.withholdUntilLists()
      else if (file !== undefined) replace(file)
    },
  }
}
