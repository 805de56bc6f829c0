// Pieces of requests that wait for a pool thread, first come first served, and how they are put
// together into tasks: neighbours of one table, up to the cost of a hundred checks. An item that
// was cancelled while it waited is rejected when its turn comes.

import { IpriskError } from '../base/coded-error.ts'
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

interface TaskQueue {
  readonly size: () => number
  readonly add: (one: QueuedItem) => void
  /** To the front: it has waited before. */
  readonly requeue: (one: QueuedItem) => void
  /** A thread has died with the first item. */
  readonly isSuspect: () => boolean
  /** The next task's items; empty where nothing waits. */
  readonly takeTask: () => readonly QueuedItem[]
}

export function createTaskQueue(): TaskQueue {
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
    add: (one) => void items.push(one),
    requeue: (one) => {
      items = [one, ...items.slice(front)]
      front = 0
    },
    isSuspect: () => (first()?.deaths ?? 0) > 0,
    takeTask: () => {
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
  return new IpriskError({
    code: 'pool_failed',
    message: `The pool gave no result: ${why}.`,
    fault: 'environment',
    retryable: true,
  })
}
