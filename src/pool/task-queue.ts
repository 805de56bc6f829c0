// Pieces of requests that wait for a pool thread, first come first served, and how they are put
// together into tasks: neighbours of one table, up to the cost of a hundred checks. What was
// cancelled while it waited is dropped when its turn comes.

import { itemCosts, pieceAddresses } from './offload-policy.ts'
import type { TaskItem, ItemResult, TaskTable } from './pool-task.ts'

export interface QueuedItem {
  readonly table: TaskTable
  readonly item: TaskItem
  readonly sinceMs: number
  /** Threads that died with it. */
  deaths: number
  /** Nobody wants it any more. */
  readonly isCancelled: () => boolean
  readonly resolve: (result: ItemResult) => void
  readonly reject: (error: Error) => void
}

export interface TaskQueue {
  readonly size: () => number
  readonly add: (one: QueuedItem) => void
  /** To the head of the line: it has waited before. */
  readonly requeue: (one: QueuedItem) => void
  /** What stands first was with a thread that died. */
  readonly isSuspect: () => boolean
  /** The next task's items; empty where nothing waits. */
  readonly takeTask: () => readonly QueuedItem[]
}

export function createTaskQueue(): TaskQueue {
  // Taken from the front by moving on; the spent part is cut off when it is the larger one. Nothing
  // stays in it: what it held would be copied by each collection of young garbage, with its request.
  let line: (QueuedItem | undefined)[] = []
  let front = 0
  const dropFirst = (): void => {
    line[front] = undefined
    front += 1
  }
  const head = (): QueuedItem | undefined => {
    while (line[front]?.isCancelled() === true) dropFirst()
    return line[front]
  }
  return {
    size: () => line.length - front,
    add: (one) => void line.push(one),
    requeue: (one) => {
      line = [one, ...line.slice(front)]
      front = 0
    },
    isSuspect: () => (head()?.deaths ?? 0) > 0,
    takeTask: () => {
      const taken: QueuedItem[] = []
      let cost = 0
      for (let one = head(); one !== undefined; one = head()) {
        const { number } = one.table
        cost += itemCosts[one.item.kind]
        const [first] = taken
        // Whatever a thread died with goes alone, so that it takes no other with it again.
        const alone = one.deaths > 0 || (first?.deaths ?? 0) > 0
        const fits = cost <= pieceAddresses && number === first?.table.number && !alone
        if (first !== undefined && !fits) break
        taken.push(one)
        dropFirst()
      }
      if (front > 1024 && front * 2 > line.length) {
        line = line.slice(front)
        front = 0
      }
      return taken
    },
  }
}
