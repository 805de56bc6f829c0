// The examples of the reference: real answers to a test key (src/http/test-key), and others made by
// the code that makes the server's.

import { decisionJson } from '../../src/adapters/crowdsec/decision.ts'
import {
  apiErrors,
  errorBody,
  type ApiErrorCode,
  type ErrorDetail,
} from '../../src/api/api-error.ts'
import { type Day, parseDay } from '../../src/base/day.ts'
import { metaOf } from '../../src/http/endpoint/meta-endpoint.ts'
import type { CoveredKind } from '../../src/model/coverage.ts'
import { type TestAddress, testAddressOf, testAnswer } from '../../src/http/test-key/test-answer.ts'

/** Keyed by the last number of the address (contract 5.7: test keys). */
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
export function errorExample(
  code: ApiErrorCode,
  detail: ErrorDetail = {},
): { readonly error: object } {
  const param = apiErrors[code].status === 400 ? { param: 'ip' } : {}
  return JSON.parse(errorBody(code, '2Yd4kq1-17', { ...param, ...detail })) as {
    readonly error: object
  }
}

const day = parseDay('2026-08-22') as Day
const coverage = { tor: 1403, vpn: 119_969, proxy: 4325, residential_proxy: 144_490 }

/** The table of that day by two of its feeds and some of its kinds, for a key of the plan team. */
export const metaExample = metaOf(
  {
    id: '20260822-ab2bc8249dc4',
    asOf: day,
    bytes: 191_932_320,
    coverage: Object.entries(coverage).map(([kind, addresses]) => ({
      kind: kind as CoveredKind,
      state: 'full',
      newest: day,
      addresses,
    })),
    sources: [
      {
        id: 'tor-exits-onionoo',
        kind: 'tor',
        provider: 'Tor Project',
        licence: 'MIT',
        homepage: 'https://github.com/alireza-rezaee/tor-nodes',
        day,
        entries: 5933,
      },
      {
        id: 'block-ipsum',
        kind: 'blocklist',
        provider: 'IPsum',
        licence: 'Unlicense',
        homepage: 'https://github.com/stamparm/ipsum',
        day,
        entries: 120_430,
      },
    ],
  },
  {
    id: 'Y4UhiD4XhlQn',
    plan: 'team',
    apis: ['ip-risk'],
    insights: 'never',
    limits: {
      rate: { per_second: 50, burst: 100, remaining: 99, reset_seconds: 1 },
      quota: { per_month: 1_000_000, remaining: 999_000, reset_seconds: 820_800 },
    },
  },
  Date.UTC(2026, 7, 22, 12),
)

const banned = { action: 'block', rule: 'tor', durationMs: 300_000, value: '198.51.100.7' }
export const decisionsExample = JSON.parse(`[${decisionJson(1, banned)}]`) as readonly object[]
