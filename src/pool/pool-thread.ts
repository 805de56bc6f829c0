// The program of a pool thread, started by Piscina. It reads tables where the worker has mapped them
// for all threads, and only in a task: between tasks the worker may unmap one that no request uses.
// An error of an item is that item's result: the thread continues.

import { workerData } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { openMappedTable } from '../table/open-table.ts'
import { machineOffsetMs } from '../base/system/clock.ts'
import { viewRegion } from '../base/system/memory-map.ts'
import { setLowestPriority } from '../base/system/thread-priority.ts'
import type { ListMatcher } from '../lists/list-matcher.ts'
import { type MappedLists, mapLists } from '../lists/open-lists.ts'
import { answerLines } from '../bulk/answer-lines.ts'
import type { TaskItem, ItemResult, PoolTask, TaskResult, ThreadData } from './pool-task.ts'
import { decideBy } from '../policy/decide-by.ts'
import { cutBatchBody } from './batch-body.ts'
import { answerInsightsItem, answerBatchPiece } from './run-task.ts'

type TaskTable = PoolTask['table']

const offsetMs = machineOffsetMs()

// Checks share these cores and go first.
if ((workerData as ThreadData).yielding) setLowestPriority()

/** The last tables: the current one, and the previous one, which requests may still name. */
const tables: { readonly address: bigint; readonly table: ReturnType<typeof openMappedTable> }[] =
  []

function tableOf({ path, place }: TaskTable) {
  const known = tables.find(({ address }) => address === place.address)?.table
  // Another table may now be mapped at the same place.
  if (known?.path === path) {
    known.readClock()
    return known
  }
  const table = openMappedTable(viewRegion(place), path)
  tables.unshift({ address: place.address, table })
  tables.splice(2)
  return table
}

/** Versions that tasks still name: what came in while one was changed. */
const listVersionsMax = 4
const lists = new Map<number, MappedLists>()

/** The lists that the request began with, so that all parts of its answer use the same ones. */
function listsOf({ lists: file }: TaskTable): ListMatcher | undefined {
  if (file === undefined) return undefined
  const known = lists.get(file.version)
  if (known !== undefined) return known.matcher
  const mapped = mapLists(file.path, file.version)
  lists.set(file.version, mapped)
  for (const [version, { unmap }] of lists) {
    if (lists.size <= listVersionsMax) break
    if (version === file.version) continue
    lists.delete(version)
    unmap()
  }
  return mapped.matcher
}

function resultOf(item: TaskItem, { table: file }: PoolTask): ItemResult {
  try {
    if (item.kind === 'read') return cutBatchBody(item.body, item.allowed)
    const table = tableOf(file)
    table.useLists(listsOf(file))
    if (item.kind === 'checks') {
      const decide = decideBy(table, item.policy)
      const decideAs = (name: string) => decideBy(table, item.policies?.get(name))
      return answerBatchPiece(table, item.texts, { ...item, decide, decideAs })
    }
    if (item.kind === 'lines') {
      const { lines, how, into } = item
      return answerLines(table, lines, how, into, decideBy(table, how.policy))
    }
    const { builtMs } = file
    return answerInsightsItem(table, { ...item, builtMs, decide: decideBy(table, item.policy) })
  } catch (thrown) {
    const isError = thrown instanceof Error
    const at = (isError ? (thrown.stack ?? '') : '')
      .split('\n')
      .filter((line) => /^ +at /.test(line))
    return { kind: 'failed', error: isError ? thrown.name : typeof thrown, at: at.slice(0, 10) }
  }
}

/** Piscina's handler: it returns a `TaskResult`, whose bytes are moved, not copied. */
export function run(task: PoolTask): unknown {
  const from = performance.now()
  const results = task.items.map((item) => resultOf(item, task))
  const runMs = performance.now() - from
  const result: TaskResult = { startMs: from + offsetMs, runMs, results }
  return move({ [transferableSymbol]: buffersOf(results), [valueSymbol]: result })
}

/**
 * No result shares a buffer: run-task.ts, answer-lines.ts and batch-body.ts detach what they
 * return.
 */
function buffersOf(results: readonly ItemResult[]): readonly ArrayBuffer[] {
  return results.flatMap((result) => {
    const bytes = bytesOf(result)
    return bytes?.buffer instanceof ArrayBuffer ? [bytes.buffer] : []
  })
}

function bytesOf(result: ItemResult): Uint8Array | undefined {
  if (result.kind === 'answered') return result.json
  if (result.kind === 'lined') return result.out
  return result.kind === 'read' ? result.rewritten : undefined
}
