// Orders of tables that come all at once, as a worker gets them whose start meets a swap.

import { expect, it } from 'vitest'
import { createWorkerTable } from '../../src/worker/worker-table.ts'
import type { ToPrimary } from '../../src/worker/worker-messages.ts'
import { library } from './table-double.ts'

const file = (table: number, path: string) => ({ table, path, builtMs: 0 })

function begin() {
  const { open, isOpen } = library()
  const said: (readonly [string, number])[] = []
  const send = (message: ToPrimary): void => {
    if ('table' in message) said.push([message.kind, message.table])
  }
  const current = createWorkerTable({ openInSteps: open, send, retire: () => undefined })
  return { isOpen, current, said, open: current.open, swap: current.swap }
}

it('are carried out in their order, each swap when its table is open', async () => {
  const { isOpen, current, said, open, swap } = begin()
  void open(file(1, 'a'))
  void swap(1)
  void open(file(2, 'b'))
  await swap(2)
  await expect.poll(() => said).toHaveLength(4)
  expect(said).toEqual([
    ['opened', 1],
    ['swapped', 1],
    ['opened', 2],
    ['swapped', 2],
  ])
  expect(current.table()?.path).toBe('b')
  expect([isOpen('a'), isOpen('b')]).toEqual([false, true])
})

it('are carried out behind one that failed', async () => {
  const { current, said, open, swap } = begin()
  void open(file(1, 'broken'))
  void swap(1)
  void open(file(2, 'b'))
  await swap(2)
  expect(said).toEqual([
    ['refused', 1],
    ['opened', 2],
    ['swapped', 2],
  ])
  expect(current.table()?.path).toBe('b')
})
