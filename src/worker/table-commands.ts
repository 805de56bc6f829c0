// Carries out the primary's commands about tables in a worker, one after the other: a table is
// swapped in only when it is open, however soon the command to swap comes.

import { messageOf } from '../base/coded-error.ts'
import type { WorkerTable } from './worker-table.ts'
import type { ToPrimary } from './worker-messages.ts'
import type { VerifiedTableFile } from '../table/served-table.ts'

interface TableCommands {
  readonly open: (file: VerifiedTableFile, how?: { readonly whole: boolean }) => Promise<void>
  readonly swap: (table: number) => Promise<void>
}

/** Each command is carried out after the one before it has ended. */
export function createTableCommands(parts: {
  readonly send: (message: ToPrimary) => void
  readonly current: WorkerTable
  /** Resolves when no thread of the pool uses the table; there may be no pool yet. */
  readonly retire: (table: number) => Promise<void> | undefined
}): TableCommands {
  const { send, current, retire } = parts
  const open: TableCommands['open'] = async (file, how) => {
    const { table } = file
    try {
      send({ kind: 'opened', table, info: await current.open(file, how) })
    } catch (error) {
      send({ kind: 'refused', table, message: messageOf(error) })
    }
  }
  const swap = (table: number): void => {
    const old = current.file()
    const info = current.swap(table)
    // The table could not be opened.
    if (info === undefined) return
    const reportSwapped = (): void =>
      send({ kind: 'swapped', table, info, pause: current.longestPause() })
    // Reported after the old table is unmapped: the last process to release a removed file waits
    // until the system has freed it, a hundred milliseconds and more. Immediates run in their
    // order.
    if (old === undefined) reportSwapped()
    // Requests in the pool go on with the table that they began with; its file must be there.
    else
      setImmediate(
        () => void (retire(old.table) ?? Promise.resolve()).then(reportSwapped, reportSwapped),
      )
  }
  let before = Promise.resolve()
  const enqueue = (command: () => Promise<void> | void): Promise<void> => {
    const done = before.then(command)
    before = done.catch(() => undefined)
    return done
  }
  return {
    open: (file, how) => enqueue(() => open(file, how)),
    swap: (table) => enqueue(() => swap(table)),
  }
}
