import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mapFile } from '../../src/base/map.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-map-'))

describe('mapFile', () => {
  it('shows exactly the bytes of the file', () => {
    const path = join(folder, 'data')
    const content = Buffer.from(Array.from({ length: 10_001 }, (_, index) => (index * 7) & 255))
    writeFileSync(path, content)
    const map = mapFile(path)
    map.populate()
    expect(Buffer.from(map.bytes).equals(readFileSync(path))).toBe(true)
    expect(map.bytes.length).toBe(10_001)
    map.unmap()
    map.unmap()
  })

  it('is shared with the file: an append under the same inode is seen through a new map only', () => {
    const path = join(folder, 'grows')
    writeFileSync(path, 'first')
    const before = mapFile(path)
    writeFileSync(path, ' second', { flag: 'a' })
    const after = mapFile(path)
    expect(Buffer.from(before.bytes).toString()).toBe('first')
    expect(Buffer.from(after.bytes).toString()).toBe('first second')
    before.unmap()
    after.unmap()
  })

  it.each([
    ['a folder', folder, 'not a regular file'],
    ['nothing', join(folder, 'missing'), 'ENOENT'],
    ['a device', '/dev/null', 'not a regular file'],
  ])('refuses %s and says why', (_name, path, why) => {
    expect(() => mapFile(path)).toThrow(why)
  })

  it('refuses an empty file', () => {
    const path = join(folder, 'empty')
    writeFileSync(path, '')
    expect(() => mapFile(path)).toThrow('it is empty')
  })
})
