import { describe, expect, it } from 'vitest'
import type { Day } from '../../src/base/day.ts'
import { createCurrent } from '../../src/server/current.ts'
import type { Table } from '../../src/table/table.ts'

/** Tables that know only whether they are open. */
function library(): {
  readonly open: (path: string) => Table
  readonly isOpen: (path: string) => boolean | undefined
} {
  const state = new Map<string, boolean>()
  return {
    isOpen: (path) => state.get(path),
    open: (path) => {
      if (path === 'broken') throw new Error('it is broken')
      state.set(path, true)
      return {
        path,
        id: `id of ${path}`,
        asOf: 1 as Day,
        bytes: 1,
        sources: [],
        check: () => undefined,
        answer: () => ({ classification: 'clean', body: new Uint8Array(0) }),
        close: () => state.set(path, false),
      }
    },
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('createCurrent', () => {
  it('answers from a table only after the swap, and closes the old one in a later turn', async () => {
    const { open, isOpen } = library()
    const current = createCurrent(open)
    expect(current.table()).toBeUndefined()
    current.open({ table: 1, path: 'a', builtMs: 0 })
    expect(current.table()).toBeUndefined()
    expect(current.swap(1)?.id).toBe('id of a')
    current.open({ table: 2, path: 'b', builtMs: 0 })
    expect(current.table()?.path).toBe('a')
    current.swap(2)
    expect(current.table()?.path).toBe('b')
    expect(isOpen('a')).toBe(true)
    await turn()
    expect(isOpen('a')).toBe(false)
    expect(isOpen('b')).toBe(true)
  })

  it('keeps the one in use where the next cannot be opened or is another than asked for', () => {
    const { open } = library()
    const current = createCurrent(open)
    current.open({ table: 1, path: 'a', builtMs: 0 })
    current.swap(1)
    expect(() => current.open({ table: 2, path: 'broken', builtMs: 0 })).toThrow('it is broken')
    expect(current.swap(2)).toBeUndefined()
    current.open({ table: 3, path: 'c', builtMs: 0 })
    expect(current.swap(2)).toBeUndefined()
    expect(current.table()?.path).toBe('a')
  })

  it('closes a table that was opened and given up', () => {
    const { open, isOpen } = library()
    const current = createCurrent(open)
    current.open({ table: 1, path: 'a', builtMs: 0 })
    current.open({ table: 2, path: 'b', builtMs: 0 })
    expect(isOpen('a')).toBe(false)
    current.swap(2)
    expect(current.swap(2)).toBeUndefined()
    expect(current.table()?.path).toBe('b')
  })
})
