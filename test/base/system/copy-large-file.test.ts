// Copies of large files: the same bytes whatever their size is, over whatever was there.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { copyLargeFile } from '../../../src/base/system/copy-large-file.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-copy-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const piece = 2 ** 23

it.each([0, 1, piece - 1, piece, piece + 1, 2 * piece + 4097])('copies %i bytes', (length) => {
  const [source, target] = [join(folder, 'source'), join(folder, `target-${length}`)]
  const bytes = Buffer.from(Uint32Array.from({ length: length / 4 + 1 }, (_, i) => i).buffer)
  writeFileSync(source, bytes.subarray(0, length))
  copyLargeFile(source, target)
  expect(readFileSync(target).equals(bytes.subarray(0, length))).toBe(true)
  expect(statSync(target).ino).not.toBe(statSync(source).ino)
})

it('leaves nothing of a longer file that was there', () => {
  const [source, target] = [join(folder, 'short'), join(folder, 'long')]
  writeFileSync(source, 'short')
  writeFileSync(target, 'a longer text')
  copyLargeFile(source, target)
  expect(readFileSync(target, 'utf8')).toBe('short')
})

it('says which file is not there, and of a folder that it is one', () => {
  const target = join(folder, 'none')
  expect(() => copyLargeFile(join(folder, 'absent'), target)).toThrow(/ENOENT.*absent/)
  expect(() => copyLargeFile(folder, target)).toThrow('EISDIR')
})
