// Files that are there whole or not at all, what is never replaced, and folders whose renames are on
// the disk.

import type * as nodeFs from 'node:fs'
import type * as nodeFsPromises from 'node:fs/promises'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  beginReplacing,
  flushFolder,
  flushFolderSync,
  outputFault,
  removeTemporaryFiles,
  replaceFile,
  replaceFileSync,
  temporaryName,
} from '../../../src/base/system/atomic-file.ts'

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

it('replaces a file atomically: flushed, renamed, and its folder flushed', async () => {
  writeFileSync(join(folder, 'a.json'), 'old')
  await replaceFile(join(folder, 'a.json'), 'new')
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

it('leaves nothing behind if the rename fails', async () => {
  mkdirSync(join(folder, 'taken', 'by'), { recursive: true })
  await expect(replaceFile(join(folder, 'taken'), 'text')).rejects.toThrow('it is a folder')
  expect(readdirSync(folder)).toEqual(['taken'])
})

const isRoot = process.getuid?.() === 0

describe('anything but a regular file is refused and stays', () => {
  it.skipIf(!isRoot)('a device, which only root can make here', async () => {
    const path = join(folder, 'null')
    execFileSync('mknod', [path, 'c', '1', '3'])
    symlinkSync('null', join(folder, 'link'))
    for (const name of ['null', 'link']) {
      const refusal = 'it is a device, not a regular file'
      await expect(replaceFile(join(folder, name), 'text')).rejects.toThrow(refusal)
      expect(() => replaceFileSync(join(folder, name), 'text')).toThrow(refusal)
    }
    expect(lstatSync(path).isCharacterDevice()).toBe(true)
    expect(readdirSync(folder)).toEqual(['link', 'null'])
  })

  it('a pipe, a socket, a folder, a loop of links, a place below a file', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')])
    const server = createServer().listen(join(folder, 'socket'))
    await new Promise((resolve) => server.once('listening', resolve))
    mkdirSync(join(folder, 'folder'))
    symlinkSync('loop', join(folder, 'loop'))
    writeFileSync(join(folder, 'file'), '')
    const names = ['pipe', 'socket', 'folder', 'loop', 'file/below']
    expect(names.map((name) => outputFault(join(folder, name)))).toEqual([
      'is a pipe, not a regular file',
      'is a socket, not a regular file',
      'is a folder',
      'is a symbolic link that leads back to itself',
      'lies below a file',
    ])
    for (const name of names) expect(() => replaceFileSync(join(folder, name), '')).toThrow('it ')
    server.close()
  })

  it('what replaced the target while the file was written', () => {
    const file = beginReplacing(join(folder, 'a'), 0o644)
    writeFileSync(file.temporary, 'text')
    execFileSync('mkfifo', [join(folder, 'a')])
    expect(() => file.commitSync()).toThrow('it is a pipe')
    file.discard()
    expect(readdirSync(folder)).toEqual(['a'])
  })
})

describe('a symbolic link stays', () => {
  it.each([
    ['a file', 'there/real'],
    ['nothing yet', 'there/new'],
    ['nothing yet, by two links', 'second'],
  ])('and what it leads to is written: %s', async (_, to) => {
    mkdirSync(join(folder, 'elsewhere', 'deep'), { recursive: true })
    // The parent of a folder behind a link is not the folder of the link.
    symlinkSync('elsewhere/deep', join(folder, 'there'))
    writeFileSync(join(folder, 'there', 'real'), 'old')
    symlinkSync('there/../real', join(folder, 'second'))
    symlinkSync(to, join(folder, 'link'))
    await replaceFile(join(folder, 'link'), 'first')
    replaceFileSync(join(folder, 'link'), 'new')
    expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(folder, to), 'utf8')).toBe('new')
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })
})

describe('the mode', () => {
  it('of the file before stays, but a secret is its writer’s alone', async () => {
    const path = join(folder, 'a')
    replaceFileSync(path, 'text')
    chmodSync(path, 0o664)
    await replaceFile(path, 'text')
    expect(statSync(path).mode & 0o777).toBe(0o664)
    await replaceFile(path, 'text', 0o600)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it.skipIf(!isRoot)('and the owner, which only root can keep', () => {
    const path = join(folder, 'a')
    writeFileSync(path, '')
    chownSync(path, 65_534, 65_534)
    replaceFileSync(path, 'text')
    expect(statSync(path).uid).toBe(65_534)
    replaceFileSync(path, 'text', 0o600)
    expect(statSync(path).uid).toBe(0)
  })
})
