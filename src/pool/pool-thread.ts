// The program of a pool thread, started by Piscina. It maps tables itself, each when the first task
// names it, and unmaps it when the worker says that it is retired; that message comes between
// tasks, so nothing reads an unmapped page. An error of an item is that item's result: the thread
// goes on.

import { threadId, workerData } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { type OpenTable, openTable } from '../table/open-table.ts'
import { machineOffsetMs } from '../base/system/clock.ts'
import { setLowestPriority } from '../base/system/thread-priority.ts'
import { onChannelMessage, openThreadChannel, sendToChannel } from './unmap-tables.ts'
import type { ListMatcher } from '../lists/list-matcher.ts'
import { type MappedLists, mapLists } from '../lists/open-lists.ts'
import { answerLines } from '../bulk/answer-lines.ts'
import type {
  TaskItem,
  ItemResult,
  PoolTask,
  TaskResult,
  TaskTable,
  ThreadData,
} from './pool-task.ts'
import { decideBy } from '../policy/decide-by.ts'
import { cutBatchBody } from './batch-body.ts'
import { answerInsightsItem, answerBatchPiece } from './run-task.ts'

const tables = new Map<number, OpenTable>()
const offsetMs = machineOffsetMs()
const { channel: name, yielding } = workerData as ThreadData

// Checks share these cores and go first.
if (yielding) setLowestPriority()

const channel = openThreadChannel(name)
onChannelMessage(channel, (message) => {
  if (message.kind !== 'retire') return
  const { table } = message
  tables.get(table)?.close()
  tables.delete(table)
  sendToChannel(channel, { kind: 'retired', table, thread: threadId })
})

function tableOf({ number, path }: TaskTable): OpenTable {
  const known = tables.get(number)
  if (known !== undefined) return known
  const table = openTable(path)
  tables.set(number, table)
  // Sent before anything can go wrong with it: a message arrives even if its thread dies.
  sendToChannel(channel, { kind: 'mapped', table: number, thread: threadId, place: table.place })
  return table
}

/** Versions that tasks still name: what came in while one was changed. */
const listVersionsMax = 4
const lists = new Map<number, MappedLists>()

/** The lists that the request began with, so that all parts of its answer know the same ones. */
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

/** Piscina's handler: what it gives back is a `TaskResult`, whose bytes move and are not copied. */
export function run(task: PoolTask): unknown {
  const from = performance.now()
  const results = task.items.map((item) => resultOf(item, task))
  const runMs = performance.now() - from
  const result: TaskResult = { thread: threadId, startMs: from + offsetMs, runMs, results }
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
