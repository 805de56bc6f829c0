import { expect, it } from 'vitest'
import { trimEnd } from '../../../src/base/text/clean-text.ts'

it.each([
  ['', ''],
  ['name', 'name'],
  ['name,', 'name'],
  ['name,;,', 'name'],
  ['a,;b', 'a,;b'],
  [',;', ''],
])('takes commas and semicolons off the end of %j', (text, trimmed) => {
  expect(trimEnd(text, ',;')).toBe(trimmed)
})
