// What workers are told of the table that a server is to start with.

import { mkdtempSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tableBytesOf } from '../../src/serve/primary.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-settings-'))

it.each([
  ['a table', 12_345, 12_345],
  ['an empty file', 0, undefined],
  ['what is larger than any table', 2 ** 31, undefined],
])('the size of %s', (name, bytes, told) => {
  const path = join(folder, name)
  writeFileSync(path, '')
  truncateSync(path, bytes)
  expect(tableBytesOf(path)).toBe(told)
})

it('nothing of what is not there, or cannot be asked', () => {
  expect(tableBytesOf(join(folder, 'missing'))).toBeUndefined()
  expect(tableBytesOf('\0')).toBeUndefined()
})
