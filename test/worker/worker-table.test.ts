import { describe, expect, it } from 'vitest'
import type { ToPrimary } from '../../src/worker/worker-messages.ts'
import { createWorkerTable } from '../../src/worker/worker-table.ts'
import { library } from './table-double.ts'

const said: ToPrimary[] = []
const started = (openInSteps: ReturnType<typeof library>['open']) => {
  said.length = 0
  return createWorkerTable({
    openInSteps,
    send: (message) => void said.push(message),
    retire: () => undefined,
  })
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('createCurrent', () => {
  it('answers from a table only after the swap, and closes the old one in a later turn', async () => {
    const { open, isOpen } = library()
    const current = started(open)
    expect(current.table()).toBeUndefined()
    await current.open({ table: 1, path: 'a', builtMs: 0 })
    expect(current.table()).toBeUndefined()
    await current.swap(1)
    expect(said.at(-1)).toMatchObject({ kind: 'swapped', info: { id: 'id of a' } })
    await current.open({ table: 2, path: 'b', builtMs: 0 })
    expect(current.table()?.path).toBe('a')
    await current.swap(2)
    expect(current.table()?.path).toBe('b')
    expect(isOpen('a')).toBe(true)
    await turn()
    expect(isOpen('a')).toBe(false)
    expect(isOpen('b')).toBe(true)
  })

  it('keeps the one in use where the next cannot be opened or is another than asked for', async () => {
    const { open } = library()
    const current = started(open)
    await current.open({ table: 1, path: 'a', builtMs: 0 })
    await current.swap(1)
    await current.open({ table: 2, path: 'broken', builtMs: 0 })
    expect(said.at(-1)).toEqual({ kind: 'refused', table: 2, message: 'it is broken' })
    await current.swap(2)
    await current.open({ table: 3, path: 'c', builtMs: 0 })
    await current.swap(2)
    expect(current.table()?.path).toBe('a')
  })

  it('closes a table that was opened and given up', async () => {
    const { open, isOpen } = library()
    const current = started(open)
    await current.open({ table: 1, path: 'a', builtMs: 0 })
    await current.open({ table: 2, path: 'b', builtMs: 0 })
    expect(isOpen('a')).toBe(false)
    await current.swap(2)
    await current.swap(2)
    expect(current.table()?.path).toBe('b')
  })

  it('opens in turns of their own, in which the loop serves others', async () => {
    const { open } = library()
    const current = started(open)
    let turns = 0
    let opening = true
    const count = (): void => {
      turns += 1
      if (opening) setImmediate(count)
    }
    setImmediate(count)
    await current.open({ table: 1, path: 'a', builtMs: 0 })
    opening = false
    expect(turns).toBeGreaterThanOrEqual(2)
  })
})
