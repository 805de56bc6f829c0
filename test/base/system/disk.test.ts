// Files that are there whole or not at all, and folders whose renames are on the disk.

import type * as nodeFs from 'node:fs'
import type * as nodeFsPromises from 'node:fs/promises'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import {
  flushFolder,
  flushFolderSync,
  removeTemporaryFiles,
  replaceFile,
  temporaryName,
} from '../../../src/base/system/disk.ts'

/** The inodes of what was flushed, in order. */
const flushed = vi.hoisted(() => [] as number[])

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof nodeFs>()
  const fsyncSync = (descriptor: number): void => {
    flushed.push(fs.fstatSync(descriptor).ino)
    fs.fsyncSync(descriptor)
  }
  return { ...fs, fsyncSync }
})
vi.mock('node:fs/promises', async (original) => {
  const fs = await original<typeof nodeFsPromises>()
  const open: typeof fs.open = async (...args) => {
    const handle = await fs.open(...args)
    const sync = handle.sync.bind(handle)
    handle.sync = async () => {
      flushed.push((await handle.stat()).ino)
      await sync()
    }
    return handle
  }
  return { ...fs, open }
})

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-disk-'))
  flushed.length = 0
})
afterEach(() => rmSync(folder, { recursive: true }))

it('replaces a file whole: flushed, renamed, and its folder flushed after it', async () => {
  writeFileSync(join(folder, 'a.json'), 'old')
  await replaceFile(folder, 'a.json', 'new')
  expect(readdirSync(folder)).toEqual(['a.json'])
  expect(readFileSync(join(folder, 'a.json'), 'utf8')).toBe('new')
  expect(flushed).toEqual([statSync(join(folder, 'a.json')).ino, statSync(folder).ino])
})

it('flushes a folder, waiting or not, and fails where there is none', async () => {
  await flushFolder(folder)
  flushFolderSync(folder)
  expect(flushed).toEqual([statSync(folder).ino, statSync(folder).ino])
  const missing = join(folder, 'none')
  await expect(flushFolder(missing)).rejects.toThrow('ENOENT')
  expect(() => flushFolderSync(missing)).toThrow('ENOENT')
})

it('removes what killed runs left under temporary names, and nothing else', async () => {
  const names = ['a.json', 'a.json.tmp', '.hidden']
  for (const name of [...names, temporaryName('a.json')]) writeFileSync(join(folder, name), '')
  await removeTemporaryFiles(folder)
  expect(readdirSync(folder).toSorted()).toEqual(names.toSorted())
  await removeTemporaryFiles(join(folder, 'none'))
})

it('leaves nothing behind where it cannot be put in place', async () => {
  mkdirSync(join(folder, 'taken', 'by'), { recursive: true })
  await expect(replaceFile(folder, 'taken', 'text')).rejects.toThrow(/EISDIR|ENOTEMPTY|directory/)
  expect(readdirSync(folder)).toEqual(['taken'])
})
