// The client against servers that answer, refuse, keep silent and close connections: what a check
// comes to in each case, what is counted and told, and that nothing is thrown.

import { describe, expect, it, vi } from 'vitest'
import type { CheckResult, FailureReason } from '../../../src/client/core/check-result.ts'
import type { ClientOptions } from '../../../src/client/core/client-options.ts'
import type { ClientFailure } from '../../../src/client/core/outcome-report.ts'
import { createClient as createFetchClient } from '../../../src/client/client.ts'
import { createClient as createNodeClient } from '../../../src/client/node-client.ts'
import { checkCharsMax, type TransportRequest } from '../../../src/client/transport/transport.ts'
import { freePort } from '../../../bench/harness/free-port.ts'
import { type Act, answerFor, answering, decided, errorOf, standIn } from '../stand-in.ts'

const key = 'irk_test'

/** A client that keeps what it was told. */
function clientOf(
  options: Partial<ClientOptions> & { readonly url: string },
  create = createNodeClient,
) {
  const told: { readonly hook: string; readonly failure: ClientFailure }[] = []
  const client = create({
    key,
    cacheMs: 0,
    timeoutMs: 2000,
    onMisconfigured: (failure) => void told.push({ hook: 'misconfigured', failure }),
    onUnavailable: (failure) => void told.push({ hook: 'unavailable', failure }),
    ...options,
  })
  return { client, told }
}

const unchecked = (reason: FailureReason, fallback = 'allow'): CheckResult => ({
  ok: false,
  reason,
  fallback,
})

describe.each([
  ['node:http', createNodeClient],
  ['fetch', createFetchClient],
])('a client over %s', (_name, create) => {
  it('asks as the API wants it, and gives the answer and no decision of its own', async () => {
    const server = await standIn(answering)
    const { client } = clientOf({ url: server.url }, create)
    const result = await client.check('203.0.113.7')
    const answer = answerFor('203.0.113.7')
    expect(result).toEqual({ ok: true, answer, decision: undefined, requestId: 'r1' })
    const [asked] = server.asked
    expect(asked).toMatchObject({
      path: '/v1/intelligence/ip-risk/check',
      body: { ip: '203.0.113.7' },
    })
    expect(asked?.headers).toMatchObject({
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
    })
    client.close()
  })

  it('sends each check with a previous address alone, and keeps no answer to it', async () => {
    const server = await standIn(answering)
    const { client } = clientOf({ url: server.url, cacheMs: 10_000 }, create)
    const ip = '203.0.113.7'
    const at = new Date()
    const circle: { self?: unknown } = {}
    circle.self = circle
    const wrong = [null, 7n, circle, () => ip, Symbol('ip'), { ip: 'x'.repeat(70_000), at }]
    const sent = [{ ip, at }, { ip, at: new Date(NaN) }, { ip: 7n, at }, ...wrong]
    const results = await Promise.all(
      // Callers without types come here, too.
      sent.map((previous) => client.check(ip, { previous: previous as never })),
    )
    expect(results.map(({ ok }) => ok)).toEqual(sent.map(() => true))
    const bodies = server.asked.map(({ body }) => body['previous'])
    const nothing = sent.slice(2).map(() => null)
    expect(bodies).toEqual([{ ip, at: at.toISOString() }, { ip, at: null }, ...nothing])
    await client.check(ip)
    await client.check(ip)
    await client.check(ip, { previous: { ip, at: at.toISOString() } })
    expect(server.asked.length).toBe(sent.length + 2)
    expect(client.counts()).toMatchObject({ cached: 1, checked: sent.length + 3 })
    client.close()
  })

  it('keeps its connection', async () => {
    const server = await standIn(answering)
    const { client } = clientOf({ url: server.url }, create)
    for (let i = 0; i < 5; i++) await client.check(`203.0.113.${i}`)
    // Node's fetch takes turns with two.
    expect(new Set(server.asked.map(({ connection }) => connection)).size).toBeLessThanOrEqual(2)
    client.close()
  })

  it('retries at once where the server has closed the connection', async () => {
    let isClosing = false
    const server = await standIn((asked, response) => {
      if (!isClosing) return answering(asked, response)
      isClosing = false
      response.destroy()
      return undefined
    })
    const { client, told } = clientOf({ url: server.url }, create)
    await client.check('203.0.113.1')
    isClosing = true
    expect(await client.check('203.0.113.2')).toMatchObject({ ok: true })
    expect(client.counts()).toMatchObject({ checked: 2, retried: 1, unavailable: 0 })
    expect(told).toEqual([])
    client.close()
  })

  it('has an answer for the first login after the idle connections were closed', async () => {
    const server = await standIn(answering)
    const { client } = clientOf({ url: server.url }, create)
    await Promise.all(['203.0.113.1', '203.0.113.2', '203.0.113.3'].map((ip) => client.check(ip)))
    server.closeConnections()
    expect(await client.check('203.0.113.4')).toMatchObject({ ok: true })
    client.close()
  })

  it('is in time, whatever the server does', async () => {
    const server = await standIn((asked, response) => {
      // Headers come, the body never ends.
      if (asked.body['ip'] === '203.0.113.2') response.writeHead(200).write('{')
    })
    const { client, told } = clientOf({ url: server.url, timeoutMs: 40 }, create)
    expect(await client.check('203.0.113.1')).toEqual(unchecked('timeout'))
    expect(await client.check('203.0.113.2')).toEqual(unchecked('timeout'))
    expect(told.map(({ hook, failure }) => [hook, failure.reason])).toEqual([
      ['unavailable', 'timeout'],
      ['unavailable', 'timeout'],
    ])
    expect(client.counts()).toMatchObject({ timeout: 2, checked: 0 })
    client.close()
  })

  it('says unavailable where no one listens', async () => {
    const { client, told } = clientOf({ url: `http://127.0.0.1:${await freePort()}` }, create)
    expect(await client.check('203.0.113.1')).toEqual(unchecked('unavailable'))
    expect(client.counts()).toMatchObject({ unavailable: 1, retried: 0 })
    expect(told[0]?.failure.cause).toBeInstanceOf(Error)
    client.close()
  })

  it('gives the id of a refused request', async () => {
    const server = await standIn(() => ({ status: 401, body: errorOf('invalid_api_key') }))
    const { client, told } = clientOf({ url: server.url }, create)
    await client.check('203.0.113.1')
    expect(told[0]?.failure.requestId).toBe('r1')
    client.close()
  })

  it('follows no redirection', async () => {
    const server = await standIn((_asked, response) => {
      response.writeHead(301, { location: 'http://127.0.0.1:1/' }).end()
    })
    const { client } = clientOf({ url: server.url }, create)
    expect(await client.check('203.0.113.1')).toEqual(unchecked('misconfigured'))
    client.close()
  })
})

describe('what a status means', () => {
  it.each<[number, unknown, FailureReason]>([
    [400, errorOf('invalid_input', { param: 'policy' }), 'misconfigured'],
    // The client has found the address good: a test key refuses real ones.
    [400, errorOf('invalid_input', { param: 'ip' }), 'misconfigured'],
    [300, '', 'misconfigured'],
    [401, errorOf('invalid_api_key'), 'misconfigured'],
    [403, errorOf('api_not_enabled_for_plan'), 'misconfigured'],
    [403, errorOf('token_not_allowed_for_api'), 'misconfigured'],
    [404, '<html>', 'misconfigured'],
    [408, '', 'unavailable'],
    [413, errorOf('payload_too_large'), 'misconfigured'],
    [429, errorOf('rate_limit_exceeded'), 'limited'],
    [429, errorOf('api_quota_exceeded'), 'limited'],
    [500, errorOf('internal_error'), 'unavailable'],
    [502, '<html>', 'unavailable'],
    [503, errorOf('upstream_unavailable'), 'unavailable'],
    [200, '<html>', 'unavailable'],
    [200, '{"ok":true}', 'unavailable'],
    [200, 'null', 'unavailable'],
    // Without an action nothing would stop the request.
    [200, { ...answerFor('203.0.113.1'), decision: null }, 'unavailable'],
    [200, { ...answerFor('203.0.113.1'), decision: { rule: 'tor' } }, 'unavailable'],
    [200, { ...answerFor('203.0.113.1'), decision: 'allow' }, 'unavailable'],
    [200, { ...answerFor('203.0.113.1'), decision: decided('') }, 'unavailable'],
    [200, { ...answerFor('203.0.113.1'), risk_score: -1 }, 'unavailable'],
    [200, { ...answerFor('203.0.113.1'), risk_score: 101 }, 'unavailable'],
    [200, answerFor('203.0.113.2'), 'unavailable'],
    [200, answerFor('2001:db8::1'), 'unavailable'],
    [200, { ...answerFor('203.0.113.1'), ip: null }, 'unavailable'],
    [204, '', 'unavailable'],
  ])('%i %j: %s', async (status, body, reason) => {
    const server = await standIn(() => ({ status, body }))
    const { client, told } = clientOf({ url: server.url })
    expect(await client.check('203.0.113.1')).toEqual(unchecked(reason))
    expect(client.counts()).toMatchObject({ [reason]: 1, checked: 0 })
    const hook = reason === 'misconfigured' ? 'misconfigured' : 'unavailable'
    expect(told.map((one) => one.hook)).toEqual([hook])
    client.close()
  })

  it('is told with what the server said', async () => {
    const server = await standIn(() => ({ status: 401, body: errorOf('invalid_api_key') }))
    const { client, told } = clientOf({ url: server.url })
    await client.check('203.0.113.1')
    expect(told[0]?.failure).toEqual({
      reason: 'misconfigured',
      status: 401,
      code: 'invalid_api_key',
      message: 'It is invalid_api_key.',
      requestId: 'r1',
    })
    client.close()
  })
})

describe('an address that is none', () => {
  it.each([
    '203.0.113.7:4711',
    '[2001:db8::1]',
    'fe80::1%eth0',
    '203.0.113.0/24',
    'unknown',
    '',
    ' 203.0.113.7',
    undefined as unknown as string,
    7 as unknown as string,
  ])('%j is not sent, is no outage, and does not let in by default', async (ip) => {
    const server = await standIn(answering)
    const { client, told } = clientOf({ url: server.url })
    expect(await client.check(ip)).toEqual(unchecked('invalid_address', 'challenge'))
    expect(server.asked).toEqual([])
    expect(client.counts()).toMatchObject({ invalid_address: 1, unavailable: 0 })
    expect(told).toEqual([])
    client.close()
  })

  it('is a mistake that is told where the setup is why', async () => {
    const { client, told } = clientOf({ url: 'http://127.0.0.1:1' })
    const result = await client.check('', { noAddress: 'There is no peer.' })
    expect(result).toEqual(unchecked('misconfigured'))
    expect(told.map(({ failure }) => failure.message)).toEqual(['There is no peer.'])
    client.close()
  })
})

describe('a policy', () => {
  const deciding: Act = ({ body }) => ({
    status: 200,
    body: { ...answerFor(String(body['ip'])), decision: decided('challenge') },
  })

  it('decides where the server has it', async () => {
    const server = await standIn(deciding)
    const { client } = clientOf({ url: server.url })
    const result = await client.check('203.0.113.1', { policy: 'login' })
    expect(result).toMatchObject({ ok: true, decision: decided('challenge') })
    expect(server.asked[0]?.body).toEqual({ ip: '203.0.113.1', policy: 'login' })
    client.close()
  })

  it('that was named and did not decide is a mistake that is told, not a score that decides', async () => {
    const server = await standIn(answering)
    const { client, told } = clientOf({ url: server.url })
    const result = await client.check('203.0.113.1', { policy: 'login' })
    expect(result).toEqual(unchecked('misconfigured'))
    expect(told[0]?.failure.message).toContain('no decision')
    client.close()
  })
})

describe('an answer', () => {
  it.each([
    ['203.0.113.1', '203.0.113.1'],
    ['::ffff:203.0.113.1', '203.0.113.1'],
    ['203.0.113.1', '::ffff:cb00:7101'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
  ])('to a check of %s may name %s', async (ip, said) => {
    const server = await standIn(() => ({
      status: 200,
      body: answerFor(said, { risk_score: 100 }),
    }))
    const { client } = clientOf({ url: server.url })
    expect(await client.check(ip)).toMatchObject({ ok: true, answer: { ip: said } })
    client.close()
  })

  it('for another address or policy than was asked is none, and is not kept', async () => {
    const said = { ip: '203.0.113.2', policy: 'login' }
    const server = await standIn(() => ({
      status: 200,
      body: { ...answerFor(said.ip), decision: decided('allow', said.policy) },
    }))
    const { client, told } = clientOf({ url: server.url, cacheMs: 60_000 })
    const asked = { policy: 'login' }
    expect(await client.check('203.0.113.1', asked)).toEqual(unchecked('unavailable'))
    Object.assign(said, { ip: '203.0.113.1', policy: 'signup' })
    expect(await client.check('203.0.113.1', asked)).toEqual(unchecked('unavailable'))
    Object.assign(said, { policy: 'login' })
    expect(await client.check('203.0.113.1', asked)).toMatchObject({ ok: true })
    const messages = told.map(({ failure }) => failure.message)
    expect(messages).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('different')))
    client.close()
  })

  it.each([
    ['node:http', createNodeClient],
    ['fetch', createFetchClient],
  ])('over %s is read up to its limit', async (_name, create) => {
    let chars = 0
    const whole = (ip: unknown): string => {
      const body = JSON.stringify(answerFor(String(ip), { table: '' }))
      return body.replace('"table":""', `"table":"${'t'.repeat(chars - body.length)}"`)
    }
    const server = await standIn(({ body }) => ({ status: 200, body: whole(body['ip']) }))
    const { client, told } = clientOf({ url: server.url, timeoutMs: 20_000 }, create)
    chars = checkCharsMax
    expect(chars).toBe(2 ** 20)
    expect(await client.check('203.0.113.1')).toMatchObject({ ok: true })
    expect(told).toEqual([])
    chars = 60_000_000
    expect(await client.check('203.0.113.1')).toEqual(unchecked('unavailable'))
    expect(told.map(({ failure }) => failure.message)).toEqual([
      expect.stringContaining('too long'),
    ])
    client.close()
  })

  it('of a transport that reads on is too long all the same; a batch may be longer', async () => {
    const results = ['203.0.113.1', '203.0.113.2'].map((ip) => answerFor(ip))
    const rows = JSON.stringify({ results, more: '' })
    const send = (request: TransportRequest) => {
      const text = request.url.endsWith('batch') ? rows : JSON.stringify(answerFor('203.0.113.1'))
      const limit = request.replyCharsMax + past
      return Promise.resolve({ status: 200, text: text.padEnd(limit), requestId: undefined })
    }
    let past = 0
    const transport = { send, close: () => undefined }
    const { client } = clientOf({ url: 'http://127.0.0.1:1', transport })
    const both = ['203.0.113.1', '203.0.113.2']
    expect(await client.check('203.0.113.1')).toMatchObject({ ok: true })
    expect(await client.checkBatch(both)).toMatchObject([{ ok: true }, { ok: true }])
    past = 1
    expect(await client.check('203.0.113.1')).toEqual(unchecked('unavailable'))
    expect(await client.checkBatch(both)).toEqual(both.map(() => unchecked('unavailable')))
    client.close()
  })
})

describe('a signal', () => {
  it('ends the wait, and says nothing of the server', async () => {
    const server = await standIn(() => undefined)
    const { client } = clientOf({ url: server.url, circuitFailures: 1 })
    const controller = new AbortController()
    const result = client.check('203.0.113.1', { signal: controller.signal })
    controller.abort()
    expect(await result).toEqual(unchecked('timeout'))
    expect(await client.check('203.0.113.1', { signal: controller.signal })).toEqual(
      unchecked('timeout'),
    )
    expect(client.counts()).toMatchObject({ timeout: 2, opened: 0 })
    client.close()
  })
})

describe('the circuit', () => {
  it('opens after failures in a row, fails at once, and closes by one probe', async () => {
    const state = { isDown: true }
    const server = await standIn((asked, response) =>
      state.isDown ? { status: 503, body: {} } : answering(asked, response),
    )
    const { client } = clientOf({ url: server.url, circuitFailures: 3, circuitMs: 50 })
    for (let i = 0; i < 5; i++) await client.check('203.0.113.1')
    expect(server.asked).toHaveLength(3)
    expect(client.counts()).toMatchObject({ unavailable: 5, opened: 1 })
    state.isDown = false
    await vi.waitFor(async () => {
      // One of them is the probe, the others still fail at once.
      const results = await Promise.all(
        ['203.0.113.1', '203.0.113.2'].map((ip) => client.check(ip)),
      )
      expect(results.map(({ ok }) => ok)).toContain(true)
    })
    expect(server.asked).toHaveLength(4)
    expect(await client.check('203.0.113.3')).toMatchObject({ ok: true })
    client.close()
  })

  it.each([401, 429])('stays closed for %i: the server is alive', async (status) => {
    const server = await standIn(() => ({ status, body: {} }))
    const { client } = clientOf({ url: server.url, circuitFailures: 2 })
    for (let i = 0; i < 5; i++) await client.check('203.0.113.1')
    expect(server.asked).toHaveLength(5)
    client.close()
  })

  it('of insights does not keep plain checks back', async () => {
    const server = await standIn((asked, response) =>
      asked.path.includes('include') ? { status: 503, body: {} } : answering(asked, response),
    )
    const { client } = clientOf({ url: server.url, circuitFailures: 1 })
    await client.check('203.0.113.1', { insights: true })
    expect(await client.check('203.0.113.1')).toMatchObject({ ok: true })
    client.close()
  })

  it('of batches does not, either', async () => {
    const server = await standIn((asked, response) =>
      asked.path.endsWith('batch') ? { status: 503, body: {} } : answering(asked, response),
    )
    const { client } = clientOf({ url: server.url, circuitFailures: 1 })
    await client.checkBatch(['203.0.113.1'])
    expect(client.counts().opened).toBe(1)
    expect(await client.check('203.0.113.1')).toMatchObject({ ok: true })
    client.close()
  })
})

describe('a hedge', () => {
  it('is a second request beside a slow first one, of which the first answer counts', async () => {
    let count = 0
    const server = await standIn((asked, response) => {
      count += 1
      return count === 1 ? undefined : answering(asked, response)
    })
    const { client } = clientOf({ url: server.url, hedgeMs: 20 })
    expect(await client.check('203.0.113.1')).toMatchObject({ ok: true })
    expect(client.counts()).toMatchObject({ hedged: 1, checked: 1 })
    client.close()
  })

  it('is off by default', async () => {
    const server = await standIn(() => undefined)
    const { client } = clientOf({ url: server.url, timeoutMs: 60 })
    await client.check('203.0.113.1')
    expect(server.asked).toHaveLength(1)
    client.close()
  })
})

describe('the cache', () => {
  it('answers again without asking, by address, policy and insights', async () => {
    const server = await standIn((asked) => ({
      status: 200,
      body: {
        ...answerFor(String(asked.body['ip'])),
        decision: decided('allow', asked.body['policy']),
      },
    }))
    const { client } = clientOf({ url: server.url, cacheMs: 60_000 })
    for (let i = 0; i < 2; i++) {
      await client.check('203.0.113.1')
      await client.check('203.0.113.1', { policy: 'login' })
      await client.check('203.0.113.1', { policy: 'signup' })
      await client.check('203.0.113.1', { insights: true })
    }
    expect(
      server.asked.map(({ path, body }) => [path.includes('insights'), body['policy']]),
    ).toEqual([
      [false, undefined],
      [false, 'login'],
      [false, 'signup'],
      [true, undefined],
    ])
    expect(client.counts()).toMatchObject({ cached: 4, checked: 8 })
    client.close()
  })

  it('keeps no failure', async () => {
    const server = await standIn(() => ({ status: 429, body: {} }))
    const { client } = clientOf({ url: server.url, cacheMs: 60_000 })
    await client.check('203.0.113.1')
    await client.check('203.0.113.1')
    expect(server.asked).toHaveLength(2)
    client.close()
  })
})

describe('a batch', () => {
  it('gives each address its result, in order', async () => {
    const server = await standIn(({ body }) => ({
      status: 200,
      body: {
        results: (body['ips'] as string[]).map((ip) => answerFor(ip)),
      },
    }))
    const { client } = clientOf({ url: server.url })
    const results = await client.checkBatch(['203.0.113.1', 'bad', '2001:db8::1'])
    expect(results).toEqual([
      { ok: true, answer: answerFor('203.0.113.1'), decision: undefined },
      unchecked('invalid_address', 'challenge'),
      { ok: true, answer: answerFor('2001:db8::1'), decision: undefined },
    ])
    expect(await client.checkBatch([])).toEqual([])
    expect(await client.checkBatch(['bad'])).toEqual([unchecked('invalid_address', 'challenge')])
    // What is no address, of whatever length, is no reason to refuse the others.
    expect(server.asked.map(({ body }) => body['ips'])).toEqual([['203.0.113.1', '2001:db8::1']])
    client.close()
  })

  it('of more addresses than one request takes is several', async () => {
    const server = await standIn(({ body }) => ({
      status: 200,
      body: { results: (body['ips'] as string[]).map((ip) => answerFor(ip)) },
    }))
    const { client } = clientOf({ url: server.url })
    const ips = Array.from(
      { length: 10_001 },
      (_, i) => `203.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
    )
    const results = await client.checkBatch(ips)
    expect(results.map((result) => result.ok && result.answer.ip)).toEqual(ips)
    expect(server.asked.map(({ body }) => (body['ips'] as string[]).length)).toEqual([10_000, 1])
    client.close()
  })

  it('of several requests is in time as a whole', async () => {
    const server = await standIn(() => undefined)
    const { client, told } = clientOf({ url: server.url, batchTimeoutMs: 300 })
    const results = await client.checkBatch(Array.from({ length: 10_001 }, () => '203.0.113.1'))
    expect(results).toHaveLength(10_001)
    expect(client.counts().timeout).toBe(10_001)
    expect(told.length).toBeLessThan(3)
    expect(server.asked.length).toBeLessThan(2)
    client.close()
  })

  it('of rows that are out of order has no answer for those', async () => {
    const server = await standIn(({ body }) => ({
      status: 200,
      body: { results: (body['ips'] as string[]).map((ip) => answerFor(ip)).toReversed() },
    }))
    const { client, told } = clientOf({ url: server.url })
    const ips = ['203.0.113.1', '203.0.113.2', '203.0.113.3']
    const results = await client.checkBatch(ips)
    expect(results.map(({ ok }) => ok)).toEqual([false, true, false])
    expect(told).toHaveLength(1)
    client.close()
  })

  it('by a policy that decides nothing is told once', async () => {
    const server = await standIn(({ body }) => ({
      status: 200,
      body: { results: (body['ips'] as string[]).map((ip) => answerFor(ip)) },
    }))
    const { client, told } = clientOf({ url: server.url })
    await client.checkBatch(['203.0.113.1', '203.0.113.2'], { policy: 'login' })
    expect([client.counts().misconfigured, told.length]).toEqual([2, 1])
    client.close()
  })

  it('that fails fails for each, and is told once', async () => {
    const server = await standIn(() => ({ status: 429, body: {} }))
    const { client, told } = clientOf({ url: server.url })
    expect(await client.checkBatch(['203.0.113.1', '203.0.113.2'])).toEqual([
      unchecked('limited'),
      unchecked('limited'),
    ])
    expect([client.counts().limited, told.length]).toEqual([2, 1])
    client.close()
  })
})

describe('feedback', () => {
  const outcomes = [{ ip: '203.0.113.1', outcome: 'abusive' }] as const

  it('goes to its path and says how many were accepted', async () => {
    const server = await standIn(() => ({ status: 202, body: { accepted: 1 } }))
    const { client } = clientOf({ url: server.url })
    expect(await client.feedback(outcomes)).toEqual({ ok: true, accepted: 1 })
    expect(server.asked[0]).toMatchObject({
      path: '/v1/intelligence/ip-risk/feedback',
      body: { outcomes },
    })
    client.close()
  })

  it('that is refused says so; that of nothing is not sent', async () => {
    const server = await standIn(() => ({ status: 400, body: errorOf('invalid_input') }))
    const { client } = clientOf({ url: server.url })
    expect(await client.feedback(outcomes)).toEqual({ ok: false, reason: 'misconfigured' })
    expect(await client.feedback([])).toEqual({ ok: true, accepted: 0 })
    client.close()
  })
})

describe('never throws', () => {
  it('where the hooks do', async () => {
    const server = await standIn(({ body }) => ({
      status: body['ip'] === '203.0.113.1' ? 401 : 503,
      body: {},
    }))
    const client = createNodeClient({
      url: server.url,
      key,
      onMisconfigured: () => {
        throw new Error('of the application')
      },
      onUnavailable: async () => {
        await Promise.reject(new Error('of the application, later'))
      },
    })
    expect(await client.check('203.0.113.1')).toEqual(unchecked('misconfigured'))
    expect(await client.check('203.0.113.2')).toEqual(unchecked('unavailable'))
    client.close()
  })

  it('where the transport does', async () => {
    const transport = {
      send: () => {
        throw new Error('odd')
      },
      close: () => undefined,
    }
    const { client } = clientOf({ url: 'http://127.0.0.1:1', transport })
    expect(await client.check('203.0.113.1')).toEqual(unchecked('unavailable'))
    expect(await client.checkBatch(['203.0.113.1'])).toEqual([unchecked('unavailable')])
    const outcome = { ip: '203.0.113.1', outcome: 'abusive' } as const
    expect(await client.feedback([outcome])).toEqual({ ok: false, reason: 'unavailable' })
  })

  it('where the caller has no types', async () => {
    const server = await standIn(() => ({ status: 202, body: { accepted: 0 } }))
    const { client } = clientOf({ url: server.url })
    const none = undefined as unknown as []
    const no = null as unknown as undefined
    expect(await client.check('203.0.113.1', no)).toEqual(unchecked('unavailable'))
    expect(await client.checkBatch(none)).toEqual([])
    expect(await client.feedback([], no)).toEqual({ ok: true, accepted: 0 })
    client.close()
  })
})

describe('a spent rate', () => {
  it('falls back to the caller’s choice if the options have none', async () => {
    const server = await standIn(() => ({ status: 429, body: errorOf('rate_limit_exceeded') }))
    const { client } = clientOf({ url: server.url })
    const asked = { whenLimited: 'challenge' } as const
    expect(await client.check('203.0.113.1', asked)).toEqual(unchecked('limited', 'challenge'))
    expect(await client.check('203.0.113.1')).toEqual(unchecked('limited', 'allow'))
    const { client: chosen } = clientOf({ url: server.url, fallback: { limited: 'allow' } })
    expect(await chosen.check('203.0.113.1', asked)).toEqual(unchecked('limited', 'allow'))
    client.close()
    chosen.close()
  })
})
