// The tables that a worker has open: the one that answers, and during a swap the new one. Opening
// and swapping are two steps, so that all workers swap only after all could open. An opened table
// is compared with known answers; a table that gives other answers is refused. Long work is done in
// steps, each in its own turn of the loop.
//
// Invariant: a table is closed in a later turn of the loop than the one that swapped it out; every
// answer is built within one turn, so nothing reads an unmapped page.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { IpriskError, messageOf } from '../base/coded-error.ts'
import { createQueue } from '../base/concurrency.ts'
import { firstDifference } from '../compare/acceptance-check.ts'
import type { ListMatcher } from '../lists/list-matcher.ts'
import { maxPause, noPause, timeStep } from '../observe/loop-lag.ts'
import { dataSetOf } from '../table/file/table-source.ts'
import type { TableInfo, VerifiedTableFile } from '../table/served-table.ts'
import type { Table } from '../table/table.ts'
import type { ToPrimary } from './worker-messages.ts'

export type WorkerTable = ReturnType<typeof createWorkerTable>

/** Opens a table in steps (table/open-table.ts). */
export type OpenInSteps = (
  path: string,
  how: { readonly whole: boolean },
) => Iterator<undefined, Table, undefined>

export function createWorkerTable(openInSteps: OpenInSteps) {
  let current: { readonly file: VerifiedTableFile; readonly table: Table } | undefined
  let next: { readonly file: VerifiedTableFile; readonly table: Table } | undefined
  let lists: ListMatcher | undefined
  let withheld = false
  let pause = noPause
  const measured = <T>(step: () => T): T => {
    const { result, pause: stepPause } = timeStep(step)
    pause = maxPause(pause, stepPause)
    return result
  }
  const openAccepted = async (
    file: VerifiedTableFile,
    how: { readonly whole: boolean },
  ): Promise<Table> => {
    const steps = openInSteps(file.path, how)
    let step = measured(() => steps.next())
    while (step.done !== true) {
      await nextTurn()
      step = measured(() => steps.next())
    }
    const table = step.value
    await nextTurn()
    try {
      const unlike = measured(() => firstDifference(table, file.known ?? []))
      if (unlike === undefined) return table
      throw new IpriskError({
        code: 'table_differs',
        message: `${file.path} answers otherwise for ${unlike} here than where it was verified`,
        fault: 'environment',
      })
    } catch (error) {
      table.close()
      throw error
    }
  }
  return {
    /** Answers with these lists from now on, also from tables that are swapped in later. */
    useLists: (newest: ListMatcher | undefined): void => {
      lists = newest
      withheld = false
      current?.table.useLists(newest)
    },
    /** No table answers before the lists are known. */
    withholdUntilLists: (): void => {
      withheld = true
    },
    /** Of the loop, for a step of the newest swap. */
    longestPause: () => pause,
    /** The table that answers; `undefined` before the first swap and while withheld. */
    table: () => (withheld ? undefined : current?.table),
    file: () => (withheld ? undefined : current?.file),
    /**
     * Maps a table beside the current one; fails with what opening throws, or `table_differs`. Must
     * not be called again before it has ended. `whole` compares its checksums first, because it was
     * verified a while ago.
     */
    open: async (
      file: VerifiedTableFile,
      how: { readonly whole: boolean } = { whole: false },
    ): Promise<TableInfo> => {
      // A table that was opened and never swapped in: the primary gave it up.
      next?.table.close()
      next = undefined
      pause = noPause
      const table = await openAccepted(file, how)
      next = { file, table }
      return infoOf(table)
    },
    /** Answers from the opened table from now on; `undefined` where that table is not open. */
    swap: (number: number): TableInfo | undefined => {
      if (next === undefined || next.file.table !== number) return undefined
      const old = current
      current = next
      next = undefined
      // Not before: known answers are those of the table alone.
      current.table.useLists(lists)
      if (old !== undefined) setImmediate(() => measured(() => old.table.close()))
      return infoOf(current.table)
    },
  }
}

function infoOf(table: Table): TableInfo {
  const { id, asOf, bytes, coverage } = table
  const sources = table.sources.map((source) => {
    const { id, day, quarantined = false, entries } = source
    return { id, day, quarantined, entries, dataSet: dataSetOf(source) }
  })
  return { id, asOf, bytes, coverage, sources }
}

/**
 * Carries out the primary's commands about tables in a worker, one after the other: a table is
 * swapped in only when it is open, however soon the command to swap comes.
 */
export function createTableCommands(parts: {
  readonly send: (message: ToPrimary) => void
  readonly current: WorkerTable
  /** Resolves when no thread of the pool uses the table; there may be no pool yet. */
  readonly retire: (table: number) => Promise<void> | undefined
}) {
  const { send, current, retire } = parts
  const open = async (
    file: VerifiedTableFile,
    how?: Parameters<WorkerTable['open']>[1],
  ): Promise<void> => {
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
  const enqueue = createQueue()
  return {
    open: (...of: Parameters<typeof open>) => enqueue(() => open(...of)),
    swap: (table: number) => enqueue(() => swap(table)),
  }
}
