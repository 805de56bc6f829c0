// Memory for files lies where a copy between it and whole pages is fast.

import koffi from 'koffi'
import { describe, expect, it } from 'vitest'
import { newFileBuffer } from '../../../src/base/system/copy-large-file.ts'

const pageBytes = 4096n
/** Copies whose addresses differ by less are slow: up to 160 bytes. */
const slowBytes = 160

function expectFar(buffer: Buffer): void {
  const inPage = Number(koffi.address(buffer) % pageBytes)
  expect(inPage).toBeGreaterThan(slowBytes)
  expect(inPage).toBeLessThan(Number(pageBytes) - slowBytes)
}

describe('memory for files', () => {
  it.each([2 ** 20, 2 ** 23, 2 ** 28 + 5])(
    'of %i bytes begins far from where pages do',
    (bytes) => {
      const buffer = newFileBuffer(bytes)
      expect(buffer).toHaveLength(bytes)
      expectFar(buffer)
    },
  )

  it('does so wherever the allocator has room', () => {
    // Of these, many come from the heap and begin anywhere.
    const kept = Array.from({ length: 300 }, (_, at) => newFileBuffer(2 ** 15 + at * 16))
    for (const [at, buffer] of kept.entries()) {
      expect(buffer).toHaveLength(2 ** 15 + at * 16)
      expectFar(buffer)
    }
  })
})
