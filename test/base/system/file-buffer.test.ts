// Memory for files lies where a copy between it and whole pages is fast.

import koffi from 'koffi'
import { expect, it } from 'vitest'
import { newFileBuffer } from '../../../src/base/system/file-buffer.ts'

const pageBytes = 4096n
/** Copies whose addresses differ by less are slow: up to 160 bytes. */
const slowBytes = 160

it.each([2 ** 26, 2 ** 28 + 5])('of %i bytes begins far from where pages do', (bytes) => {
  const buffer = newFileBuffer(bytes)
  expect(buffer).toHaveLength(bytes)
  const inPage = Number(koffi.address(buffer) % pageBytes)
  expect(inPage).toBeGreaterThan(slowBytes)
  expect(inPage).toBeLessThan(Number(pageBytes) - slowBytes)
})
