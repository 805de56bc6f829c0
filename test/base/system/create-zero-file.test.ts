// Files of zeros that processes map: whole, with all blocks, however the system makes them.

import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createZeroFile, systemAllocate } from '../../../src/base/system/create-zero-file.ts'

const bytes = 3 * 2 ** 20 + 7

/** The disk is full on the way, as far as the system says. */
const allocateHalf = (descriptor: number): number => {
  ftruncateSync(descriptor, bytes >> 1)
  return 28
}

describe.each([
  ['by the system', {}],
  ['where the system has no way to', { allocate: () => 95 }],
  ['where the system allocated half of it', { allocate: allocateHalf }],
])('a file of zeros made %s', (_how, options) => {
  const path = join(mkdtempSync(join(tmpdir(), 'iprisk-zeros-')), 'zeros')

  it('holds its head and zeros, is for its owner alone and has all its blocks', () => {
    createZeroFile(path, bytes, { ...options, head: Buffer.from('head') })
    const expected = Buffer.alloc(bytes)
    expected.write('head')
    expect(readFileSync(path).equals(expected)).toBe(true)
    const { blocks, mode } = statSync(path)
    expect(blocks * 512).toBeGreaterThanOrEqual(bytes)
    expect(mode & 0o777).toBe(0o600)
  })

  it('takes the place of no other', () => {
    writeFileSync(path, 'other')
    expect(() => createZeroFile(path, bytes, options)).toThrow('EEXIST')
    expect(readFileSync(path, 'utf8')).toBe('other')
  })
})

it.runIf(process.platform === 'linux')('the system allocates files', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'iprisk-zeros-')), 'zeros')
  const descriptor = openSync(path, 'wx')
  expect(systemAllocate(descriptor, 0, bytes)).toBe(0)
  closeSync(descriptor)
  expect(statSync(path)).toMatchObject({ size: bytes })
})

it('a file that cannot be made leaves nothing', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'iprisk-zeros-')), 'zeros')
  const allocate = (): number => {
    throw new Error('the disk has gone')
  }
  expect(() => createZeroFile(path, bytes, { allocate })).toThrow('the disk has gone')
  expect(existsSync(path)).toBe(false)
})
