// Reading a small file whatever lies at its path: regular files and, where asked for, pipes; never
// for ever, never more than was allowed.

import { execFileSync, spawn } from 'node:child_process'
import {
  closeSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type Server, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  openRegularFile,
  readBoundedFile,
  readDescriptor,
  secretFile,
} from '../../../src/base/system/bounded-file.ts'
import { mapFile } from '../../../src/base/system/memory-map.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-bounded-'))
const at = (name: string): string => join(folder, name)
const bounds = { bytesMax: 1000 }
let socket: Server

beforeAll(async () => {
  execFileSync('mkfifo', [at('pipe')])
  socket = createServer()
  await new Promise<void>((resolve) => socket.listen(at('socket'), resolve))
  writeFileSync(at('small'), 'hello')
  writeFileSync(at('full'), 'x'.repeat(1000))
  writeFileSync(at('large'), 'x'.repeat(1001))
  symlinkSync(at('small'), at('link'))
})
afterAll(() => {
  socket.close()
  rmSync(folder, { recursive: true })
})

describe('a file', () => {
  it('is read whole, also by a link, up to its bound', () => {
    expect(readBoundedFile(at('small'), bounds).bytes.toString()).toBe('hello')
    expect(readBoundedFile(at('link'), bounds).bytes.toString()).toBe('hello')
    expect(readBoundedFile(at('full'), bounds).bytes).toHaveLength(1000)
    const pieces = 200_000
    writeFileSync(at('pieces'), 'y'.repeat(pieces))
    expect(readBoundedFile(at('pieces'), { bytesMax: pieces }).bytes).toHaveLength(pieces)
  })

  it('of /proc, which says that it is empty, is read and bounded all the same', () => {
    expect(readBoundedFile('/proc/self/status', { bytesMax: 65_536 }).bytes.toString()).toContain(
      'Pid:',
    )
    expect(() => readBoundedFile('/proc/self/status', { bytesMax: 10 })).toThrow(
      'more than 10 bytes',
    )
  })

  it.each([
    ['gone', 'there is no such file'],
    ['.', 'it is a folder'],
    ['pipe', 'it is a pipe, and must be a regular file'],
    ['socket', 'it is a socket or a device, and must be a regular file'],
    ['/dev/zero', 'it is a device, and must be a regular file'],
  ])('%s is refused at once', (name, reason) => {
    const path = name.startsWith('/') ? name : at(name)
    expect(() => readBoundedFile(path, bounds)).toThrow(reason)
    expect(() => openRegularFile(path)).toThrow(reason)
  })

  it('that is too large is refused', () => {
    expect(() => readBoundedFile(at('large'), bounds)).toThrow('it has more than 1000 bytes')
  })

  it('that is a pipe is refused where it should be mapped, too', () => {
    expect(() => mapFile(at('pipe'))).toThrow('it is not a regular file')
  })
})

describe('a pipe, where it is allowed', () => {
  it('gives what its writer writes, also one that comes a moment later', async () => {
    const writer = spawn('sh', ['-c', `sleep 0.1; echo secret > ${at('pipe')}`])
    expect(readBoundedFile(at('pipe'), secretFile).bytes.toString()).toBe('secret\n')
    await new Promise((resolve) => writer.once('exit', resolve))
  })

  it('without a writer is empty', () => {
    expect(readBoundedFile(at('pipe'), secretFile).bytes).toHaveLength(0)
  })

  it('whose writer says nothing is not waited for', () => {
    const writer = openSync(at('pipe'), 'r+')
    const hasty = { bytesMax: 1000, pipeMsMax: 20 }
    expect(() => readBoundedFile(at('pipe'), hasty)).toThrow('writer did not finish within 20 ms')
    closeSync(writer)
  })

  it('is bounded like a file', async () => {
    const writer = spawn('sh', ['-c', `yes > ${at('pipe')}`], { stdio: 'ignore' })
    expect(() => readBoundedFile(at('pipe'), secretFile)).toThrow('it has more than 65536 bytes')
    await new Promise((resolve) => writer.once('exit', resolve))
  })

  it('may be open already, as standard input is', () => {
    const input = openSync(at('small'), 'r')
    readSync(input, Buffer.alloc(1))
    expect(readDescriptor(input, bounds).toString()).toBe('ello')
    closeSync(input)
  })
})
