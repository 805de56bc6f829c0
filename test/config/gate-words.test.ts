// The gate reads addresses with the client's code, so its settings must take the client's words:
// the same headers and presets, and no range that the client would refuse when the server starts.

import { expect, it } from 'vitest'
import {
  addressHeaders as clientHeaders,
  readTrust,
} from '../../src/client/address/trusted-proxies.ts'
import { proxyPresets } from '../../src/client/address/proxy-presets.ts'
import {
  addressHeaders,
  proxyPresetNames,
  proxyRanges,
  proxyTrust,
} from '../../src/config/setting-checks.ts'

it('--gate-header takes the headers of the client, in its order', () => {
  expect(addressHeaders).toEqual(clientHeaders)
})

it('--gate-peers and --gate-trust take the presets of the client', () => {
  expect(proxyPresetNames.toSorted()).toEqual(Object.keys(proxyPresets).toSorted())
})

const clientTakes = (text: string): boolean => {
  try {
    readTrust([text])
    return true
  } catch {
    return false
  }
}

it.each([
  ...proxyPresetNames,
  '192.0.2.7',
  '192.0.2.0/24',
  '0.0.0.0/0',
  '2001:db8::/32',
  '2001:DB8::1',
  '::1',
  '::ffff:192.0.2.7',
  '192.0.2.0/33',
  '192.0.2',
  '2001:db8::/129',
  'toString',
  'Loopback',
  ' 192.0.2.7',
  '',
])('%j is a range to both or to neither', (text) => {
  expect(proxyRanges.safeParse([text]).success).toBe(clientTakes(text))
  expect(proxyTrust.safeParse([text]).success).toBe(clientTakes(text))
})

it.each(['1', '2', '16'])('--gate-trust takes %s as the client takes the number', (text) => {
  expect(proxyTrust.safeParse([text]).success).toBe(true)
  expect(() => readTrust(Number(text))).not.toThrow()
})
