// The examples of the reference: real answers to a test key (src/http/test-key).

import { apiErrors, errorBody, type ApiErrorCode } from '../../src/api/api-error.ts'
import { type TestAddress, testAddressOf, testAnswer } from '../../src/http/test-key/test-answer.ts'

/** By the last number of the address (contract 5.7). */
export const testNumbers = [
  [1, 'clean'],
  [2, 'known_bot'],
  [3, 'hosting'],
  [4, 'proxy'],
  [5, 'vpn'],
  [6, 'tor'],
  [7, 'residential_proxy'],
  [8, 'mixed'],
  [9, 'relay'],
  [10, 'mobile'],
  [11, 'blocklist'],
  [20, 'rate_limit_exceeded'],
  [21, 'api_quota_exceeded'],
  [22, 'upstream_unavailable'],
  [23, 'slow'],
  [99, 'bogon'],
] as const
export type TestName = (typeof testNumbers)[number][1]

export const testTexts: Readonly<Record<TestName, string>> = {
  clean: 'an ordinary user',
  known_bot: 'a verified search crawler',
  hosting: 'a hosting network',
  proxy: 'a public proxy',
  vpn: 'a VPN exit',
  tor: 'a Tor exit',
  residential_proxy: 'a residential proxy',
  mixed: 'residential proxy and VPN at once',
  relay: 'a privacy relay, with ordinary users behind it',
  mobile: 'a mobile carrier',
  blocklist: 'on three blocklists, with no other evidence',
  rate_limit_exceeded: '429: too many requests',
  api_quota_exceeded: '429: quota used up',
  upstream_unavailable: '503: service unavailable',
  slow: 'an ordinary user, answered after two seconds to test your timeout',
  bogon: 'not routable, like loopback and private addresses',
}

export const addressOf = (number: number): string => `198.18.0.${number}`

/** One for each classification, and for relay, mobile and blocklist. */
export const examples = testNumbers.flatMap(([number, name]) => {
  const ip = addressOf(number)
  const address = testAddressOf(ip) as TestAddress
  const isAnswer = name !== 'slow' && address.is.kind !== 'refusal'
  return isAnswer ? [{ name, answer: testAnswer(ip, address) }] : []
})

/** With a made-up request id. */
export function errorExample(code: ApiErrorCode): { readonly error: object } {
  const param = apiErrors[code].status === 400 ? { param: 'ip' } : {}
  return JSON.parse(errorBody(code, '2Yd4kq1-17', param)) as { readonly error: object }
}
