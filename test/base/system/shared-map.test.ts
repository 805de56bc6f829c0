// Memory that processes share: a map to read and write, and the clock that they agree on.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bootId, machineOffsetMs } from '../../../src/base/system/clock.ts'
import { mapSharedFile } from '../../../src/base/system/memory-map.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-shared-'))

describe('mapSharedFile', () => {
  it('shows every map what one of them writes, and leaves it in the file', () => {
    const path = join(folder, 'words')
    writeFileSync(path, Buffer.alloc(4096))
    const [one, other] = [mapSharedFile(path, 4096), mapSharedFile(path, 4096)]
    const words = new Int32Array(one.bytes.buffer)
    Atomics.add(words, 5, 41)
    Atomics.add(new Int32Array(other.bytes.buffer), 5, 1)
    expect(words[5]).toBe(42)
    one.unmap()
    other.unmap()
    expect(readFileSync(path).readInt32LE(20)).toBe(42)
  })

  it.each([
    ['short', 4095],
    ['long', 4097],
  ])('refuses a file that is too %s: a write behind its end would be fatal', (_name, bytes) => {
    const path = join(folder, `of-${bytes}`)
    writeFileSync(path, Buffer.alloc(bytes))
    expect(() => mapSharedFile(path, 4096)).toThrow(`${bytes} bytes, not 4096`)
  })

  it('refuses what is not there: it makes nothing', () => {
    expect(() => mapSharedFile(join(folder, 'missing'), 4096)).toThrow('ENOENT')
  })
})

describe('the clock of the machine', () => {
  it('is the same in another process', () => {
    const script = 'process.stdout.write(String(process.hrtime.bigint()))'
    const offset = machineOffsetMs()
    const before = performance.now() + offset
    const other = Number(execFileSync(process.execPath, ['-e', script]).toString()) / 1e6
    const after = performance.now() + offset
    expect(other).toBeGreaterThan(before)
    expect(other).toBeLessThan(after)
  })

  it('differs from its own readings by microseconds', () => {
    const offsets = Array.from({ length: 50 }, () => machineOffsetMs())
    expect(Math.max(...offsets) - Math.min(...offsets)).toBeLessThan(0.05)
  })

  it('has a name for the run of the machine', () => {
    expect(bootId()).toMatch(process.platform === 'linux' ? /^[0-9a-f-]{36}$/ : /^unknown$/)
    expect(bootId(join(folder, 'missing'))).toBe('unknown')
    writeFileSync(join(folder, 'odd'), '../../etc')
    expect(bootId(join(folder, 'odd'))).toBe('unknown')
  })
})
