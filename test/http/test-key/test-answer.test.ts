// What a test key answers for each test address: the class that its number stands for, in a shape
// that holds what every answer holds, and nothing for a real address.

import { describe, expect, it } from 'vitest'
import { anyCheckAnswer, insights } from '../../../src/api/insights-answer.ts'
import { testAddressOf, testAnswer, testInsights } from '../../../src/http/test-key/test-answer.ts'
import type { TestAddress } from '../../../src/http/test-key/test-answer.ts'

const addressOf = (ip: string): TestAddress => {
  const address = testAddressOf(ip)
  if (address === undefined || address === 'real') throw new Error(`${ip} is ${address}`)
  return address
}

const classes: readonly (readonly [number, string, string])[] = [
  [1, 'clean', ''],
  [2, 'known_bot', ''],
  [3, 'hosting', 'hosting'],
  [4, 'proxy', 'proxy'],
  [5, 'vpn', 'vpn'],
  [6, 'tor', 'tor'],
  [7, 'residential_proxy', 'residential_proxy'],
  [8, 'mixed', 'residential_proxy'],
  [9, 'clean', 'relay'],
  [10, 'clean', 'mobile'],
  [11, 'clean', 'blocklist_match'],
  [23, 'clean', ''],
]

describe.each([
  ['IPv4', '198.18.0.', 4],
  ['IPv6', '2001:db8:0:1::', 6],
  ['IPv6 with other groups', '2001:db8:0:1:2:3:4:', 6],
  ['IPv4 in IPv6', '::ffff:198.18.0.', 4],
] as const)('a test address of %s', (_family, prefix, version) => {
  it.each(classes)('ending in %i is %s', (number, classification, signal) => {
    const ip = `${prefix}${number}`
    const address = addressOf(ip)
    const answer = testAnswer(ip, address)
    expect(answer).toMatchObject({ classification, ip, version, table: 'test' })
    expect(anyCheckAnswer.safeParse(answer).error).toBeUndefined()
    expect(answer.signals).toMatchObject(signal === '' ? {} : { [signal]: true })
    const given = testInsights(address)
    expect(insights.safeParse(given).error).toBeUndefined()
    const points = given.reasons.reduce((sum, reason) => sum + reason.points, 0)
    expect(points).toBe(answer.risk_score)
  })

  it.each([
    [20, 'rate_limit_exceeded'],
    [21, 'api_quota_exceeded'],
    [22, 'upstream_unavailable'],
  ])('ending in %i is refused: %s', (number, code) => {
    expect(addressOf(`${prefix}${number}`).is).toEqual({ kind: 'refusal', code })
  })

  it.each([0, 12, 19, 24, 99])('ending in %i is a bogon', (number) => {
    const ip = `${prefix}${number}`
    expect(testAnswer(ip, addressOf(ip))).toMatchObject({
      classification: 'bogon',
      risk_score: 0,
      network: null,
      location: null,
    })
  })
})

describe('other addresses', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '::1',
    'fd00::1',
    '2001:db8:0:1::a',
    '2001:db8:0:1::100',
    // No number of JavaScript's: 1e1 would be 10.
    '2001:db8:0:1::1e0',
    '2001:db8:0:1::1e1',
    '2001:db8:0:1::2e1',
  ])('%s is a bogon', (ip) => {
    expect(testAnswer(ip, addressOf(ip)).classification).toBe('bogon')
  })

  it.each([
    '8.8.8.8',
    '198.18.1.1',
    '198.19.0.1',
    '172.32.0.1',
    '203.0.113.7',
    '2001:db8:0:2::1',
    '2001:db8::1',
    '2606:4700::1',
    'fe00::1',
    '::ffff:8.8.8.8',
  ])('%s is not judged', (ip) => {
    expect(testAddressOf(ip)).toBe('real')
  })

  it.each(['', 'x', '198.18.0.256', '198.18.0.4/32'])('%j is none', (ip) => {
    expect(testAddressOf(ip)).toBeUndefined()
  })

  it('in other texts are said in their canonical one', () => {
    const ip = '2001:DB8:0:1::5'
    expect(testAnswer(ip, addressOf(ip))).toMatchObject({ ip, address: '2001:db8:0:1::5' })
    expect(testAnswer('198.18.0.1', addressOf('198.18.0.1'))).not.toHaveProperty('address')
  })
})
