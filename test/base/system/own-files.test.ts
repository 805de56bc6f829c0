// Files of zeros that processes map: whole, with all blocks.

import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createZeroFile } from '../../../src/base/system/create-zero-file.ts'

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
