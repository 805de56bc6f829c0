// The lock within one process: who asks second is refused, and what lies around never disturbs.

import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { acquireFileLock } from '../../../src/base/system/file-lock.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-lock-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

describe('a file lock', () => {
  it('is held by one, and free again when released', () => {
    const path = join(folder, 'made', '.lock')
    const lock = acquireFileLock(path)
    expect(lock).toBeDefined()
    expect(acquireFileLock(path)).toBeUndefined()
    expect(readdirSync(join(folder, 'made'))).toEqual(['.lock'])
    expect(readFileSync(path, 'utf8')).toBe(`${process.pid}\n`)
    lock?.release()
    expect(readdirSync(join(folder, 'made'))).toEqual([])
    const again = acquireFileLock(path)
    expect(again).toBeDefined()
    again?.release()
  })

  it('is released once: a second call does not touch what is another lock by then', () => {
    const path = join(folder, '.lock')
    const first = acquireFileLock(path)
    first?.release()
    const second = acquireFileLock(path)
    first?.release()
    expect(acquireFileLock(path)).toBeUndefined()
    second?.release()
  })

  it.each([
    ['of a dead run', '4194305\n'],
    ['of another version', '{"token":"x","pid":1,"machine":"elsewhere"}\n'],
  ])('is not disturbed by a file %s', (_whose, text) => {
    const path = join(folder, '.lock')
    writeFileSync(path, text)
    const lock = acquireFileLock(path)
    expect(lock).toBeDefined()
    expect(readFileSync(path, 'utf8')).toBe(`${process.pid}\n`)
    lock?.release()
  })

  it('does not remove the file of another, who came after a person had removed this one', () => {
    const path = join(folder, '.lock')
    const first = acquireFileLock(path)
    rmSync(path)
    const second = acquireFileLock(path)
    expect(second).toBeDefined()
    first?.release()
    expect(existsSync(path)).toBe(true)
    expect(acquireFileLock(path)).toBeUndefined()
    second?.release()
  })

  it('leaves no open file where it is refused', () => {
    const path = join(folder, '.lock')
    const lock = acquireFileLock(path)
    const open = (): number => readdirSync('/proc/self/fd').length
    const before = open()
    for (let turn = 0; turn < 5; turn++) expect(acquireFileLock(path)).toBeUndefined()
    expect(open()).toBe(before)
    lock?.release()
    expect(open()).toBe(before - 1)
  })

  it('says what to do where the file system knows no locks', async () => {
    vi.resetModules()
    vi.doMock('koffi', () => ({
      default: {
        load: () => ({ func: () => () => -1 }),
        errno: () => constants.errno.ENOLCK,
      },
    }))
    const without = await import('../../../src/base/system/file-lock.ts')
    vi.doUnmock('koffi')
    const path = join(folder, '.lock')
    expect(() => without.acquireFileLock(path)).toThrow(
      expect.objectContaining({
        code: 'file_unlockable',
        message: `${path} cannot be locked (flock: ENOLCK). Its folder must be on a local file system that supports flock(2).`,
      }),
    )
  })
})
