// The line in front of the threads: order, how items become tasks, what is dropped.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { type QueuedItem, createTaskQueue } from '../../src/pool/task-queue.ts'
import type { TaskItem } from '../../src/pool/pool-task.ts'

const gone = new Set<number>()

function waiting(
  id: number,
  kind: Exclude<TaskItem['kind'], 'lines'> = 'insights',
  table = 1,
): QueuedItem & { id: number } {
  const item: TaskItem =
    kind === 'insights'
      ? { kind, text: String(id) }
      : kind === 'checks'
        ? { kind, texts: new Uint8Array() }
        : { kind, body: new Uint8Array() }
  return {
    id,
    table: { number: table, path: '', builtMs: 0, place: { address: 0n, bytes: 0 } },
    item,
    sinceMs: 0,
    deaths: 0,
    isCancelled: () => gone.has(id),
    resolve: () => undefined,
    reject: () => undefined,
  }
}

const idsOf = (taken: readonly QueuedItem[]): number[] =>
  taken.map((one) => (one as { id?: number }).id!)

describe('the line', () => {
  it('gives items in their order, several of one table together', () => {
    const line = createTaskQueue()
    for (let id = 0; id < 20; id++) line.add(waiting(id))
    expect(idsOf(line.takeTask())).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(line.size()).toBe(12)
    line.add(waiting(20, 'checks'))
    expect(line.takeTask()).toHaveLength(8)
    expect(idsOf(line.takeTask())).toEqual([16, 17, 18, 19])
    expect(idsOf(line.takeTask())).toEqual([20])
    expect(line.takeTask()).toEqual([])
    expect(line.size()).toBe(0)
  })

  it('never mixes tables, nor what a thread died with', () => {
    const line = createTaskQueue()
    line.add(waiting(1))
    line.add(waiting(2, 'insights', 2))
    line.add(waiting(3, 'insights', 2))
    expect(idsOf(line.takeTask())).toEqual([1])
    expect(idsOf(line.takeTask())).toEqual([2, 3])
    const dead = { ...waiting(4), deaths: 1 }
    line.add(waiting(5))
    line.requeue(dead)
    expect(idsOf(line.takeTask())).toEqual([4])
    line.add({ ...waiting(6), deaths: 1 })
    expect(idsOf(line.takeTask())).toEqual([5])
    expect(idsOf(line.takeTask())).toEqual([6])
  })

  it('drops what was cancelled, and keeps count over thousands', () => {
    const line = createTaskQueue()
    for (let id = 100; id < 5100; id++) {
      line.add(waiting(id, 'checks'))
      if (id % 3 === 0) gone.add(id)
    }
    const seen: number[] = []
    for (let taken = line.takeTask(); taken.length > 0; taken = line.takeTask())
      seen.push(...idsOf(taken))
    const all = Array.from({ length: 5000 }, (_, i) => i + 100)
    expect(seen).toEqual(all.filter((id) => id % 3 !== 0))
    expect(line.size()).toBe(0)
  })
})

describe('what was taken or dropped', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void

  it('is not held by the line', async () => {
    const line = createTaskQueue()
    const refs = Array.from({ length: 20 }, (_, i) => {
      const one = waiting(10_000 + i)
      if (i >= 8) gone.add(one.id)
      line.add(one)
      return new WeakRef(one)
    })
    expect(line.takeTask()).toHaveLength(8)
    expect(line.takeTask()).toEqual([])
    // A WeakRef holds what it shows until the end of its turn.
    await new Promise((resolve) => setImmediate(resolve))
    collect()
    expect(refs.filter((ref) => ref.deref() !== undefined)).toEqual([])
    expect(line.size()).toBe(0)
  })
})
