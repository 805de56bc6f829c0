// Pieces of requests that wait for a pool thread, first come first served, and how they are
// combined into tasks: neighbours of one table, up to the cost of a hundred checks. An item that
// was cancelled while it waited is rejected when its turn comes.

import { type IpriskError, environmentError } from '../base/coded-error.ts'
import { itemCosts, pieceAddresses } from './offload-policy.ts'
import type { ItemResult, PoolTask, TaskItem } from './pool-task.ts'

export interface QueuedItem {
  readonly table: PoolTask['table']
  readonly item: TaskItem
  readonly sinceMs: number
  /** Threads that died with it. */
  deaths: number
  /** Its request is over. */
  readonly isCancelled: () => boolean
  readonly resolve: (result: ItemResult) => void
  readonly reject: (error: Error) => void
}

export function createTaskQueue() {
  // The waiting items are items[front …]. The emptied part before them is cut off when it is the
  // larger one; it holds no reference, for V8 would copy the item, with its request, at each
  // scavenge.
  let items: (QueuedItem | undefined)[] = []
  let front = 0
  const dropFirst = (): void => {
    items[front] = undefined
    front += 1
  }
  const first = (): QueuedItem | undefined => {
    for (let one = items[front]; one?.isCancelled() === true; one = items[front]) {
      dropFirst()
      one.reject(poolFailed('the request was cancelled'))
    }
    return items[front]
  }
  return {
    size: () => items.length - front,
    add: (one: QueuedItem): void => void items.push(one),
    /** To the front: it has waited before. */
    requeue: (one: QueuedItem): void => {
      items = [one, ...items.slice(front)]
      front = 0
    },
    /** A thread has died with the first item. */
    isSuspect: () => (first()?.deaths ?? 0) > 0,
    /** The next task's items; empty if nothing waits. */
    takeTask: (): readonly QueuedItem[] => {
      const taken: QueuedItem[] = []
      let cost = 0
      for (let one = first(); one !== undefined; one = first()) {
        cost += itemCosts[one.item.kind]
        const [head] = taken
        if (head !== undefined && (cost > pieceAddresses || !mayShareTask(head, one))) break
        taken.push(one)
        dropFirst()
      }
      if (front > 1024 && front * 2 > items.length) {
        items = items.slice(front)
        front = 0
      }
      return taken
    },
  }
}

/** An item with which a thread has died goes alone, so that it takes no other with it. */
function mayShareTask(one: QueuedItem, other: QueuedItem): boolean {
  return one.table.number === other.table.number && one.deaths === 0 && other.deaths === 0
}

/** The error of an item that gets no result: its pool or request ended, or its threads died. */
export function poolFailed(why: string): IpriskError {
  const message = `The pool gave no result: ${why}.`
  return environmentError('pool_failed', message, { retryable: true })
}
