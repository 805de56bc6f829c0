// The tables that a worker has open: the current one, and during a swap the new one. Opening and
// swapping are two steps, so that all workers swap only after all could open. An opened table is
// compared with known answers; one that answers differently is refused. Long work is done in steps,
// each in its own turn of the loop.
// Invariant: a table is closed in a later turn of the loop than the one that swapped it out;
// every answer is built within one turn, so nothing reads an unmapped page.

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

export type OpenInSteps = (
  path: string,
  how: { readonly whole: boolean },
) => Iterator<undefined, Table, undefined>

/**
 * `open` and `swap` execute the primary's commands one after the other, and report to it: a table
 * is swapped in only once it is open, however early the command to swap comes.
 */
export function createWorkerTable(parts: {
  readonly openInSteps: OpenInSteps
  readonly send: (message: ToPrimary) => void
  /** Resolves when no thread of the pool uses the table; there may be no pool yet. */
  readonly retire: (table: number) => Promise<void> | undefined
}) {
  const { openInSteps, send, retire } = parts
  let current: { readonly file: VerifiedTableFile; readonly table: Table } | undefined
  let next: typeof current
  let lists: ListMatcher | undefined
  let withheld = false
  let pause = noPause
  const measured: Measure = (step) => {
    const { result, pause: stepPause } = timeStep(step)
    pause = maxPause(pause, stepPause)
    return result
  }
  const open = async (file: VerifiedTableFile, isWhole: boolean): Promise<void> => {
    // A table that was opened and never swapped in: the primary abandoned it.
    next?.table.close()
    next = undefined
    pause = noPause
    try {
      const table = await openAccepted(file, openInSteps(file.path, { whole: isWhole }), measured)
      next = { file, table }
      send({ kind: 'opened', table: file.table, info: infoOf(table) })
    } catch (error) {
      send({ kind: 'refused', table: file.table, message: messageOf(error) })
    }
  }
  const swap = (number: number): void => {
    // Another one if this one could not be opened.
    if (next === undefined || next.file.table !== number) return
    const old = current
    const { table } = next
    current = next
    next = undefined
    // Not earlier: known answers are those of the table alone.
    table.useLists(lists)
    const reportSwapped = (): void =>
      send({ kind: 'swapped', table: number, info: infoOf(table), pause })
    if (old === undefined) {
      reportSwapped()
      return
    }
    // Reported after the old table is unmapped: the last process to release a removed file waits
    // until the system has freed it, a hundred milliseconds and more.
    setImmediate(() => {
      measured(() => old.table.close())
      // Requests in the pool continue with the table that they began with; its file must be there.
      void (retire(old.file.table) ?? Promise.resolve()).then(reportSwapped, reportSwapped)
    })
  }
  const enqueue = createQueue()
  return {
    /** The table that answers; `undefined` before the first swap and while withheld. */
    table: () => (withheld ? undefined : current?.table),
    file: () => (withheld ? undefined : current?.file),
    /** Answers with these lists from now on, also from tables swapped in later. */
    useLists: (newest: ListMatcher | undefined): void => {
      lists = newest
      withheld = false
      current?.table.useLists(newest)
    },
    /** No table answers before the lists are known. */
    withholdUntilLists: (): void => {
      withheld = true
    },
    /** Beside the current one; `isWhole` first compares its checksums, which were verified earlier.
     * */
    open: (file: VerifiedTableFile, isWhole = false) => enqueue(() => open(file, isWhole)),
    swap: (table: number) => enqueue(() => swap(table)),
  }
}

type Measure = <T>(step: () => T) => T

/** Throws what opening throws, or `table_differs`. */
async function openAccepted(
  { path, known = [] }: VerifiedTableFile,
  steps: ReturnType<OpenInSteps>,
  measured: Measure,
): Promise<Table> {
  let step = measured(() => steps.next())
  while (step.done !== true) {
    await nextTurn()
    step = measured(() => steps.next())
  }
  const table = step.value
  await nextTurn()
  try {
    const unlike = measured(() => firstDifference(table, known))
    if (unlike === undefined) return table
    throw new IpriskError({
      code: 'table_differs',
      message: `${path} answers differently for ${unlike} here than where it was verified`,
      fault: 'environment',
    })
  } catch (error) {
    table.close()
    throw error
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
