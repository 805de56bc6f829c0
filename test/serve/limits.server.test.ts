// Rates and quotas of contract 3.12 to 3.14 on a real server with two workers: codes, headers, what
// is charged and what is not, and that neither a worker's death nor a restart gives a unit twice.

import { parseList } from 'structured-headers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KeyLimitOverrides } from '../../src/account/keys/key-record.ts'
import { addressesPerRequest } from '../../src/api/public-port.ts'
import type { MetaAnswer } from '../../src/api/meta-answer.ts'
import { leaseUnitsMin } from '../../src/base/limits.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { type Server, makeKey, newState, sleep, startServer } from './server.ts'
import { converse } from '../http/raw-socket.ts'

const table = writeSmallTable()
const state = newState()
const good = '{"ip":"9.5.5.5"}'

let server: Server

beforeAll(async () => {
  server = await startServer({ table, state, workers: 2 })
})
afterAll(() => server.stop())

/** A key that the server knows by now. */
async function keyWith(limits: KeyLimitOverrides, plan = 'internal'): Promise<string> {
  const key = await makeKey(state, { plan, limits })
  // Any request that asked whether the server knows it would be charged to its limits.
  await sleep(500)
  return key
}

const check = (key: string, body = good, at = server): Promise<Response> =>
  fetch(`http://127.0.0.1:${at.port}/v1/intelligence/ip-risk/check`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body,
  })

async function meta(key: string): Promise<MetaAnswer['key']['limits']> {
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/intelligence/ip-risk/meta`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(response.status).toBe(200)
  return ((await response.json()) as MetaAnswer).key.limits
}

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code
}

/** The statuses of so many checks, `width` at a time on connections of their own. */
async function burst(key: string, count: number, at = server, width = 16): Promise<number[]> {
  const statuses: number[] = []
  let sent = 0
  const one = async (): Promise<void> => {
    while (sent < count) {
      sent += 1
      const response = await check(key, good, at)
      await response.arrayBuffer()
      statuses.push(response.status)
    }
  }
  await Promise.all(Array.from({ length: width }, one))
  return statuses
}

const granted = (statuses: readonly number[]): number =>
  statuses.filter((status) => status === 200).length

/** A header of structured fields, as name → parameters. */
function fields(response: Response, name: string): Record<string, Record<string, unknown>> {
  const items = parseList(response.headers.get(name) ?? '')
  return Object.fromEntries(
    items.map(([value, parameters]) => [value as string, Object.fromEntries(parameters)]),
  )
}

describe('the headers', () => {
  it('state both policies and what is left, on answers and on errors', async () => {
    const key = await keyWith({}, 'team')
    const seconds = (moment: Date): number =>
      (Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1) -
        Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth())) /
      1000
    for (const body of [good, '{}']) {
      const response = await check(key, body)
      expect(response.status).toBe(body === good ? 200 : 400)
      expect(fields(response, 'ratelimit-policy')).toEqual({
        rate: { q: 100, w: 2 },
        quota: { q: 1_000_000, w: seconds(new Date()) },
      })
      const { rate, quota } = fields(response, 'ratelimit')
      expect(rate!['r']).toBeGreaterThanOrEqual(95)
      // What was spent may be back where the answer took its time.
      expect(rate!['t']).toBe(rate!['r'] === 100 ? 0 : 1)
      expect(quota!['r']).toBeGreaterThan(999_900)
      expect(quota!['r']).toBeLessThanOrEqual(1_000_000)
      expect(response.headers.get('retry-after')).toBeNull()
    }
  })

  it('are absent for a key without limits, and for no key', async () => {
    for (const key of [await keyWith({}), 'nothing']) {
      const response = await check(key)
      await response.arrayBuffer()
      expect(response.headers.get('ratelimit-policy')).toBeNull()
      expect(response.headers.get('ratelimit')).toBeNull()
    }
  })
})

describe('a rate', () => {
  it('is one for all workers: the burst and what comes back, then 429 with Retry-After', async () => {
    const key = await keyWith({ perSecond: 2, burst: 40 })
    const before = performance.now()
    const statuses = await burst(key, 300)
    const seconds = (performance.now() - before) / 1000
    expect(granted(statuses)).toBeGreaterThanOrEqual(40)
    expect(granted(statuses)).toBeLessThanOrEqual(40 + 2 * seconds + 1)
    let refused = await check(key)
    // One may have come back meanwhile.
    while (refused.status === 200) refused = await check(key)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBe(1)
    expect(fields(refused, 'ratelimit')['rate']).toEqual({ r: 0, t: 20 })
    expect(await codeOf(refused)).toBe('rate_limit_exceeded')
    // Two units come back in it.
    await sleep(1100)
    expect((await check(key)).status).toBe(200)
    expect(await server.metric('iprisk_limited_requests_total', 'limit="rate"')).toBeGreaterThan(
      200,
    )
  })

  it('is spent by every permitted request, and judged before the body', async () => {
    const key = await keyWith({ perSecond: 0.001, burst: 3 })
    const statuses = []
    for (const body of ['{}', 'x'.repeat(70_000), good, '{}']) {
      statuses.push((await check(key, body)).status)
    }
    expect(statuses).toEqual([400, 413, 200, 429])
  })

  it('is spent by a batch when its body has come, not when its headers did', async () => {
    const rate = { perSecond: 30, burst: 100 }
    const key = await keyWith(rate)
    // It costs what comes back in a second, and its body is a second late.
    const ips = Array.from({ length: 30 * addressesPerRequest }, () => '9.5.5.5')
    const body = JSON.stringify({ ips })
    const headers =
      'POST /v1/intelligence/ip-risk/check/batch HTTP/1.1\r\nhost: x\r\n' +
      `authorization: Bearer ${key}\r\ncontent-length: ${body.length}\r\n` +
      'connection: close\r\n\r\n'
    const fromMs = performance.now()
    const options = { gapMs: 1100, quietMs: 20_000 }
    const { text } = await converse(server.port, [headers, body], options)
    const { remaining } = (await meta(key)).rate!
    // The whole bucket at its body at the latest, and what came back since.
    const sinceMs = performance.now() - fromMs - options.gapMs
    expect(text).toMatch(/^HTTP\/1.1 200 /)
    expect(remaining).toBeLessThanOrEqual(rate.burst - 30 + (rate.perSecond * sinceMs) / 1000)
  })
})

describe('a quota', () => {
  it('is charged for 200s alone, exactly, on all workers', async () => {
    const key = await keyWith({ quotaPerMonth: 50 })
    for (const body of ['{}', '{"ip":"x"}', 'y']) expect((await check(key, body)).status).toBe(400)
    const statuses = await burst(key, 120)
    expect(granted(statuses)).toBe(50)
    const refused = await check(key)
    expect(refused.status).toBe(429)
    const { quota } = fields(refused, 'ratelimit')
    expect(quota!['r']).toBe(0)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(refused.headers.get('retry-after'))).toBe(quota!['t'])
    expect(await codeOf(refused)).toBe('api_quota_exceeded')
    expect((await check(key, '{}')).status).toBe(400)
    expect(await meta(key)).toMatchObject({ rate: null, quota: { per_month: 50, remaining: 0 } })
  })

  it('is told by the meta answer, to within a lease, and costs nothing there', async () => {
    const key = await keyWith({ quotaPerMonth: 1000, perSecond: 0.01, burst: 30 })
    for (let i = 0; i < 5; i += 1) {
      const { rate, quota } = await meta(key)
      expect(quota!.remaining).toBeLessThanOrEqual(1000)
      expect(quota!.remaining).toBeGreaterThanOrEqual(1000 - leaseUnitsMin)
      expect(rate).toMatchObject({ per_second: 0.01, burst: 30, remaining: 29 - i })
    }
    expect(granted(await burst(key, 5, server, 1))).toBe(5)
    const { quota } = await meta(key)
    expect(Math.abs(quota!.remaining - 995)).toBeLessThanOrEqual(leaseUnitsMin)
    expect(granted(await burst(key, 15, server, 1))).toBe(15)
  })

  it('is not charged where no table is loaded', async () => {
    const bare = await startServer({ table: '/nonexistent/table.iprisk', state })
    const key = await keyWith({ quotaPerMonth: 2 })
    try {
      for (let i = 0; i < 5; i += 1) {
        const response = await check(key, good, bare)
        expect(response.status).toBe(503)
        expect(response.headers.get('retry-after')).toBe('5')
        expect(await codeOf(response)).toBe('upstream_unavailable')
      }
    } finally {
      await bare.stop()
    }
    expect(granted(await burst(key, 5))).toBe(2)
  })

  it('goes on exactly over an orderly restart', async () => {
    const own = newState()
    const key = await makeKey(own, { limits: { quotaPerMonth: 30 } })
    let all = 0
    for (const count of [12, 30]) {
      const one = await startServer({ table, state: own, workers: 2 })
      all += granted(await burst(key, count, one))
      expect(await one.stop()).toBe(0)
    }
    expect(all).toBe(30)
  })
})
