// How a header is cut into addresses: at the left where it is long, outside quotes, and not at all
// where it holds one address.

import { expect, it } from 'vitest'
import { forwardedAddresses } from '../../../src/client/address/forwarded-header.ts'

const last = ', for=203.0.113.7'

it.each([
  ['an escaped quote', String.raw`for="x, \"y"`],
  ['an escaped backslash and a quote', String.raw`for="x, \\\"y"`],
  ['escaped backslashes before the end', String.raw`for="x, \\\\"`],
])('is one element with %s in its text', (_what, element) => {
  expect(forwardedAddresses('forwarded', element + last)).toEqual([undefined, '203.0.113.7'])
})

it('is one address where the header is no list', () => {
  expect(forwardedAddresses('x-real-ip', '203.0.113.7')).toEqual(['203.0.113.7'])
  expect(forwardedAddresses('x-real-ip', '203.0.113.7, 203.0.113.8')).toEqual([undefined])
})

it('is read from its last 4,096 characters on', () => {
  const value = `1.1.1.1,${' '.repeat(4096 - 19)}203.0.113.7`
  expect(value).toHaveLength(4096)
  expect(forwardedAddresses('x-forwarded-for', `9${value}`)).toEqual(['1.1.1.1', '203.0.113.7'])
})
