// The client against the real server: answers, batches, insights, refusals, test keys, and a table
// that is swapped under it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../src/client/core/check-result.ts'
import { createClient as createFetchClient } from '../../src/client/client.ts'
import { createClient as createNodeClient } from '../../src/client/node-client.ts'
import { createRequestGuard } from '../../src/client/middleware/request-guard.ts'
import type { ClientFailure } from '../../src/client/core/outcome-report.ts'
import { type Server, keyedState, makeKey, startServer } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'

let server: Server
let key = ''
let testKey = ''
/** Of five requests at once. */
let smallKey = ''
const clients: Client[] = []

beforeAll(async () => {
  const keyed = await keyedState()
  key = keyed.key
  testKey = await makeKey(keyed.state, { test: true })
  smallKey = await makeKey(keyed.state, { limits: { perSecond: 1, burst: 5 } })
  server = await startServer({ table: writeSmallTable(), state: keyed.state })
})
afterAll(async () => {
  for (const client of clients) client.close()
  await server.stop()
})

const told: ClientFailure[] = []
function clientOf(more: object = {}, create = createNodeClient): Client {
  const client = create({
    url: `http://127.0.0.1:${server.port}`,
    key,
    // The machine of the tests may be busy.
    timeoutMs: 10_000,
    onMisconfigured: (failure) => told.push(failure),
    onUnavailable: () => undefined,
    ...more,
  })
  clients.push(client)
  return client
}

describe.each([
  ['node:http', createNodeClient],
  ['fetch', createFetchClient],
])('the client over %s', (_name, create) => {
  it('gets answers', async () => {
    const client = clientOf({}, create)
    expect(await client.check('9.1.2.3')).toMatchObject({
      ok: true,
      answer: { classification: 'tor', ip: '9.1.2.3' },
      decision: undefined,
    })
    expect(await client.check('2a00:1:2:3::1', { insights: true })).toMatchObject({
      ok: true,
      answer: { version: 6, insights: { evidence: [{ kind: 'proxy' }] } },
    })
  })

  it('gets batches', async () => {
    const results = await clientOf({}, create).checkBatch(['9.1.2.3', '9.1.2', '::1'])
    expect(results).toMatchObject([
      { ok: true, answer: { classification: 'tor' } },
      { ok: false, reason: 'invalid_address' },
      { ok: true, answer: { classification: 'bogon' } },
    ])
  })

  it('hears why it is refused', async () => {
    const result = await clientOf({ key: `${key}x` }, create).check('9.1.2.3')
    expect(result).toMatchObject({ ok: false, reason: 'misconfigured' })
    expect(told.at(-1)).toMatchObject({ status: 401, code: 'invalid_api_key' })
    expect(told.at(-1)?.requestId).toMatch(/^[\w.-]+$/)
  })
})

describe('with a test key', () => {
  it('every path of an integration can be tried', async () => {
    const client = clientOf({ key: testKey, cacheMs: 0 })
    const at = async (last: number): Promise<string> => {
      const result = await client.check(`198.18.0.${last}`)
      return result.ok ? result.answer.classification : result.reason
    }
    expect(await at(1)).toBe('clean')
    expect(await at(5)).toBe('vpn')
    expect(await at(6)).toBe('tor')
    expect(await at(21)).toBe('limited')
    expect(await at(22)).toBe('unavailable')
    const hasty = clientOf({ key: testKey, timeoutMs: 300 })
    expect(await hasty.check('198.18.0.23')).toMatchObject({ reason: 'timeout' })
    expect(await client.check('9.1.2.3')).toMatchObject({ reason: 'misconfigured' })
    expect(told.at(-1)?.message).toContain('A test key answers only for test addresses')
  })
})

it('challenges visitors while the rate of the key is spent', async () => {
  // Each with a request of its own.
  const client = clientOf({ key: smallKey, coalesce: false })
  const challenge = (): undefined => undefined
  const judge = createRequestGuard({ client, challenge })
  const visitors = Array.from({ length: 60 }, (_, i) => `2a00:9:9:9::${i + 1}`)
  const guarded = await Promise.all(
    [...visitors, '9.1.2.3'].map((peer) => judge({ headers: {}, peer })),
  )
  const stopped = guarded.filter(({ stop }) => stop === challenge)
  expect(stopped.length).toBeGreaterThan(0)
  expect(stopped).toHaveLength(client.counts().limited)
  expect(client.counts()).toMatchObject({ checked: guarded.length - stopped.length, timeout: 0 })
})

it('shares answers with the addresses of their prefixes, and with no others', async () => {
  const client = clientOf()
  const fresh = clientOf({ cacheMs: 0 })
  const ips = [
    '9.1.2.3',
    '9.1.2.4',
    '9.1.2.5',
    '::ffff:9.1.2.6',
    '2a00:9:9:9::1',
    '2A00:9:9:9:0::2',
  ]
  for (const insights of [false, true]) {
    for (const ip of ips) {
      const found = await client.check(ip, { insights })
      if (!found.ok) throw new Error(`${ip} was not answered`)
      const { prefix, ...answer } = found.answer
      expect(prefix).toBeDefined()
      expect(await fresh.check(ip, { insights })).toMatchObject({ answer })
    }
  }
  expect(client.counts().cached).toBeGreaterThan(2)
})
