import { mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import koffi from 'koffi'
import { describe, expect, it } from 'vitest'
import { mapFile, mapRegion, unmapRegion, viewRegion } from '../../../src/base/system/memory-map.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-map-'))

describe('mapRegion', () => {
  it('maps a file without a view, which any thread makes, until it is unmapped', () => {
    const path = join(folder, 'region')
    const content = Buffer.alloc(2 ** 21 + 1, 7)
    writeFileSync(path, content)
    const isMapped = (): boolean => readFileSync('/proc/self/maps', 'utf8').includes(path)
    const region = mapRegion(path)
    expect(region.address % BigInt(2 ** 21)).toBe(0n)
    expect(content.equals(viewRegion(region))).toBe(true)
    expect(isMapped()).toBe(true)
    unmapRegion(region)
    expect(isMapped()).toBe(false)
    expect(() => mapRegion(folder)).toThrow('not a regular file')
  })
})

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

  it('begins at a multiple of 2 MB, also where a slot is used again', () => {
    const path = join(folder, 'aligned')
    const content = Buffer.alloc(3 * 2 ** 21, 7)
    writeFileSync(path, content)
    const maps = Array.from({ length: 5 }, () => mapFile(path))
    maps[1]!.unmap()
    maps[1] = mapFile(path)
    for (const { bytes } of maps) {
      expect(koffi.address(bytes) % BigInt(2 ** 21)).toBe(0n)
      expect(content.equals(bytes)).toBe(true)
    }
    expect(new Set(maps.map(({ bytes }) => koffi.address(bytes))).size).toBe(5)
    for (const map of maps) map.unmap()
  })

  it('keeps a spare slot for the next file', () => {
    const path = join(folder, 'spare')
    const length = 2 ** 26
    writeFileSync(path, 'at the start')
    truncateSync(path, length)
    const maps: ReturnType<typeof mapFile>[] = []
    const heldByAMap = (): number => {
      const { external } = process.memoryUsage()
      maps.push(mapFile(path))
      return process.memoryUsage().external - external
    }
    expect(heldByAMap()).toBeGreaterThan(2 * length)
    maps[0]!.unmap()
    expect(heldByAMap()).toBeLessThan(length / 2)
    expect(Buffer.from(maps[1]!.bytes.subarray(0, 12)).toString()).toBe('at the start')
    maps[1]!.unmap()
  })

  it('does not put a small file into the slot of a large one', () => {
    const [small, large] = [join(folder, 'small'), join(folder, 'large')]
    const length = 3 * 2 ** 26
    writeFileSync(small, 'small')
    writeFileSync(large, 'large')
    truncateSync(large, length)
    mapFile(large).unmap()
    const { external } = process.memoryUsage()
    const maps = [small, large].map(mapFile)
    expect(process.memoryUsage().external - external).toBeLessThan(length / 2)
    for (const map of maps) map.unmap()
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
