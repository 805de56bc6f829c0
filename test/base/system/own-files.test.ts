// Files that the program keeps for itself: for its user alone, never through a link; those of zeros,
// which processes map, whole, with all blocks.

import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { acquireFileLock } from '../../../src/base/system/file-lock.ts'
import { mapSharedFile } from '../../../src/base/system/memory-map.ts'
import {
  createZeroFile,
  makeOwnFolder,
  openOwnFile,
  openOwnHandle,
} from '../../../src/base/system/own-files.ts'

const bytes = 3 * 2 ** 20 + 7

describe('a file of zeros', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'iprisk-zeros-')), 'zeros')

  it('holds its head and zeros, is for its owner alone and has all its blocks', () => {
    createZeroFile(path, bytes, { head: Buffer.from('head') })
    const expected = Buffer.alloc(bytes)
    expected.write('head')
    expect(readFileSync(path).equals(expected)).toBe(true)
    const { blocks, mode } = statSync(path)
    expect(blocks * 512).toBeGreaterThanOrEqual(bytes)
    expect(mode & 0o777).toBe(0o600)
  })

  it('takes the place of no other', () => {
    writeFileSync(path, 'other')
    expect(() => createZeroFile(path, bytes)).toThrow('EEXIST')
    expect(readFileSync(path, 'utf8')).toBe('other')
  })
})

describe('a file or folder of one’s own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-own-'))
  const modeOf = (path: string): number => statSync(path).mode & 0o777

  it('is for its user alone, whatever the umask', async () => {
    const umask = process.umask(0)
    try {
      makeOwnFolder(join(folder, 'a/b'))
      const log = openOwnFile(join(folder, 'log'), { append: true })
      writeSync(log, 'one')
      closeSync(log)
      await (await openOwnHandle(join(folder, 'handle'))).close()
      const lock = acquireFileLock(join(folder, 'lock'))
      const modes = ['a', 'a/b', 'log', 'handle', 'lock'].map((name) => modeOf(join(folder, name)))
      lock?.release()
      expect(modes).toEqual([0o700, 0o700, 0o600, 0o600, 0o600])
    } finally {
      process.umask(umask)
    }
  })

  it('is not written through a link, not even one that leads nowhere', async () => {
    const target = join(folder, 'target')
    writeFileSync(target, 'kept')
    mkdirSync(join(folder, 'folder'))
    const why = 'is a symbolic link, which is not followed: put the file or folder there'
    for (const [name, to] of ['target', 'nowhere', 'folder'].entries()) {
      const link = join(folder, `link-${name}`)
      symlinkSync(to, link)
      expect(() => openOwnFile(link, { append: true })).toThrow(why)
      await expect(openOwnHandle(link)).rejects.toThrow(why)
      expect(() => acquireFileLock(link)).toThrow(why)
      expect(() => mapSharedFile(link, 4)).toThrow('cannot be opened')
    }
    expect(() => makeOwnFolder(join(folder, 'link-2'))).toThrow(why)
    expect([readFileSync(target, 'utf8'), existsSync(join(folder, 'nowhere'))]).toEqual([
      'kept',
      false,
    ])
  })
})
