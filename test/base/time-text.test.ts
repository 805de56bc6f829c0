// Instants as people write them, where Date.parse takes more than there is.

import { expect, it } from 'vitest'
import { parseInstant } from '../../src/base/time-text.ts'

it.each([
  ['2026-08-22', '2026-08-22T00:00:00.000Z'],
  ['2026-08-22T12:30Z', '2026-08-22T12:30:00.000Z'],
  ['2026-08-22T12:30:15.25Z', '2026-08-22T12:30:15.250Z'],
  ['2026-08-22T01:00:00+02:00', '2026-08-21T23:00:00.000Z'],
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
])('takes %s', (text, expected) => {
  expect(new Date(parseInstant(text)!).toISOString()).toBe(expected)
})

it.each([
  '',
  'yesterday',
  '2026-02-29',
  '2026-02-30T00:00:00Z',
  '2026-13-01',
  '2026-08-22T24:00:00Z',
  '2026-08-22T12:60:00Z',
  '2026-08-22T12:00:00',
  '2026-08-22T12:00:00+99:99',
  '2026-8-22',
  ' 2026-08-22',
])('takes no %j', (text) => {
  expect(parseInstant(text)).toBeUndefined()
})
