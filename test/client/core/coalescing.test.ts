// Checks that go together: the same results as alone, whatever the server does, and when requests
// go out.

import { describe, expect, it, vi } from 'vitest'
import type { CheckResult } from '../../../src/client/core/check-result.ts'
import { createClient as createEdgeClient } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/node-client.ts'
import type { ClientOptions } from '../../../src/client/core/client-options.ts'
import type { Transport, TransportReply } from '../../../src/client/transport/transport.ts'
import { inForm } from '../../form.ts'
import { newRandom } from '../../oracle/sample.ts'
import { answerFor, errorOf } from '../stand-in.ts'

const faults = ['401', '403', '429 rate', '500', '503', 'garbage', 'reset', 'no member'] as const
type Fault = (typeof faults)[number] | 'none' | 'older' | 'no batches'

interface World {
  fault: Fault
  /** Addresses that own lists name, and rows that a proxy has spoilt. */
  listed: ReadonlySet<string>
  spoilt: ReadonlySet<string>
}

interface Sent {
  readonly path: string
  readonly body: { readonly ip?: string; readonly ips?: string[]; readonly policy?: string }
}

/** A server in the process; replies come in later turns, in any order. */
function transportTo(world: World, random = Math.random) {
  const sent: Sent[] = []
  const held: (() => void)[] = []
  const state = { isHolding: false }
  const reply = (status: number, body: unknown): TransportReply => ({
    status,
    text: typeof body === 'string' ? body : JSON.stringify(body),
    requestId: 'r1',
  })
  const error = (status: number, code: string, param?: string): TransportReply =>
    reply(status, errorOf(code, param === undefined ? {} : { param }))

  function answer(ip: string, policy: string, withPrefix: boolean): object {
    if (world.spoilt.has(ip)) return { ...answerFor(ip), classification: 7 }
    const isListed = world.listed.has(ip)
    const last = Number(ip.split('.')[3])
    const risk_score = isListed ? 100 : (last & 0xf0) % 101
    const base = ip.slice(0, ip.lastIndexOf('.'))
    // A /28 has one score; where a list names one of its addresses, each has a prefix of its own.
    const row = Array.from({ length: 16 }, (_, at) => `${base}.${(last & 0xf0) + at}`)
    const isSplit = row.some((one) => world.listed.has(one) || world.spoilt.has(one))
    const prefix = isSplit ? `${ip}/32` : `${base}.${last & 0xf0}/28`
    const more = isListed ? { lists: ['mine'] } : {}
    const decision = { action: risk_score > 50 ? 'block' : 'allow', rule: 'r', policy }
    return {
      ...answerFor(ip, { risk_score, ...more, decision }),
      ...(withPrefix ? { prefix } : {}),
    }
  }

  function act({ path, body }: Sent): TransportReply {
    const { policy = 'default' } = body
    const isBatch = path.includes('/batch')
    const withPrefix = path.includes('include=prefix')
    switch (world.fault) {
      case '401':
        return error(401, 'invalid_api_key')
      case '403':
        return error(403, 'token_not_allowed_for_api')
      case '429 rate':
        return error(429, 'rate_limit_exceeded')
      case '500':
        return reply(500, '')
      case '503':
        return error(503, 'upstream_unavailable')
      case 'garbage':
        return reply(200, '<html>')
      case 'reset':
        throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
      case 'no member':
        return reply(200, {})
      case 'older':
        if (withPrefix) return error(400, 'invalid_input', 'include')
        break
      case 'no batches':
        if (isBatch) return error(404, 'not_found')
        break
      case 'none':
    }
    if (policy === 'none') return error(400, 'invalid_input', 'policy')
    if (!isBatch) return reply(200, answer(body.ip!, policy, withPrefix))
    const rows = body.ips!.map((ip) => answer(ip, policy, withPrefix))
    return reply(200, { results: rows })
  }

  const transport: Transport = {
    async send({ url, body }) {
      const one = {
        path: new URL(url).pathname + new URL(url).search,
        body: JSON.parse(body) as Sent['body'],
      }
      sent.push(one)
      if (state.isHolding) await new Promise<void>((resolve) => held.push(resolve))
      for (let turns = Math.floor(random() * 4); turns > 0; turns--) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      return act(one)
    },
    close: () => undefined,
  }
  return { transport, sent, held, state }
}

const quiet = { onMisconfigured: () => undefined, onUnavailable: () => undefined }

function clientOf(transport: Transport, options: Partial<ClientOptions> = {}) {
  return createClient({
    url: 'http://api',
    key: 'irk_k',
    timeoutMs: 60_000,
    circuitFailures: 1e9,
    transport,
    ...quiet,
    ...options,
  })
}

/** Its answers are from one table: a later one may come from the cache, so without request id. */
function plain(result: CheckResult): unknown {
  if (!result.ok) return result
  const { prefix: _prefix, ...answer } = result.answer
  const { requestId: _requestId, ...rest } = result
  return { ...rest, answer }
}

describe('checks that go together', () => {
  it('have the results of checks that go alone', async () => {
    const random = newRandom(47)
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
    const ip = (): string => `192.0.${pick([2, 3])}.${Math.floor(random() * 256)}`
    const total = inForm({ short: 3000, full: 20_000, long: 100_000 })
    let requests = { together: 0, alone: 0 }
    for (let done = 0; done < total;) {
      const world: World = {
        fault: random() < 0.5 ? 'none' : pick([...faults, 'older', 'no batches']),
        listed: new Set(Array.from({ length: 8 }, ip)),
        spoilt: new Set([ip(), ip()]),
      }
      const cacheMs = pick([0, 5000])
      const [one, two] = [transportTo(world, random), transportTo(world, random)]
      const together = clientOf(one.transport, { cacheMs })
      const alone = clientOf(two.transport, { cacheMs, coalesce: false })
      for (let round = 0; round < 4; round++) {
        const asked = Array.from({ length: 1 + Math.floor(random() * 300) }, () => ({
          ip: random() < 0.02 ? pick(['', 'x', '1.2.3']) : ip(),
          policy: pick([undefined, undefined, 'login', 'none']),
        }))
        const ask = (client: typeof alone) =>
          Promise.all(
            asked.map(({ ip, policy }) => client.check(ip, policy === undefined ? {} : { policy })),
          )
        const [left, right] = [await ask(together), await ask(alone)]
        expect([world.fault, left.map(plain)]).toEqual([world.fault, right.map(plain)])
        done += asked.length
      }
      // From how many answers the cache has served is another matter.
      const counts = (client: typeof alone) => ({ ...client.counts(), cached: 0, retried: 0 })
      expect(counts(together)).toEqual(counts(alone))
      requests = {
        together: requests.together + one.sent.length,
        alone: requests.alone + two.sent.length,
      }
    }
    expect(requests.together).toBeLessThan(requests.alone / 3)
  })

  const calm: World = { fault: 'none', listed: new Set(), spoilt: new Set() }
  const ips = (count: number, from = 0) =>
    Array.from({ length: count }, (_, at) => `192.0.${(from + at) >> 8}.${(from + at) & 255}`)

  it('go at once where no request is under way, else with the next, by policy', async () => {
    const { transport, sent } = transportTo(calm)
    const client = clientOf(transport, { cacheMs: 0 })
    await client.check('192.0.2.1')
    const many = ips(3).map((ip) => client.check(ip))
    const others = ips(2).map((ip) => client.check(ip, { policy: 'login' }))
    expect(await Promise.all([...many, ...others])).toHaveLength(5)
    expect(sent.map(({ body }) => body)).toEqual([
      { ip: '192.0.2.1' },
      { ip: '192.0.0.0' },
      { ips: ['192.0.0.1', '192.0.0.2'] },
      { ips: ['192.0.0.0', '192.0.0.1'], policy: 'login' },
    ])
  })

  it('do not wait for requests that hang, and are at most 256', async () => {
    const { transport, sent, held, state } = transportTo(calm)
    const client = clientOf(transport, { cacheMs: 0 })
    state.isHolding = true
    const hung = [client.check('192.0.2.1'), client.check('192.0.2.2')]
    await new Promise((resolve) => setImmediate(resolve))
    expect(sent).toHaveLength(2)
    state.isHolding = false
    const results = await Promise.all(ips(600).map((ip) => client.check(ip)))
    expect(results.every(({ ok }) => ok)).toBe(true)
    expect(sent.slice(2).map(({ body }) => body.ips?.length)).toEqual([256, 256, 88])
    for (const go of held) go()
    expect((await Promise.all(hung)).every(({ ok }) => ok)).toBe(true)
  })

  it('leave each other where one is aborted or times out', async () => {
    const { transport, held, state } = transportTo(calm)
    const client = clientOf(transport, { cacheMs: 0, timeoutMs: 1000 })
    state.isHolding = true
    const first = client.check('192.0.2.1')
    const controller = new AbortController()
    const left = client.check('192.0.2.2', { signal: controller.signal })
    const stays = client.check('192.0.2.3')
    await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    expect(await left).toEqual({ ok: false, reason: 'timeout', fallback: 'allow' })
    for (const go of held) go()
    expect(await stays).toMatchObject({ ok: true, answer: { ip: '192.0.2.3' } })
    expect(await first).toMatchObject({ ok: true })
    expect(await client.check('192.0.2.4')).toMatchObject({ reason: 'timeout' })
    expect(client.counts()).toMatchObject({ checked: 2, timeout: 2 })
  })

  it('share what is left of a quota', async () => {
    let left = 5
    const { transport, sent } = transportTo(calm)
    const limited: Transport = {
      ...transport,
      send: async (request) => {
        const { ips: many = [''] } = JSON.parse(request.body) as { readonly ips?: string[] }
        const reply = await transport.send(request)
        if (many.length > left)
          return { ...reply, status: 429, text: JSON.stringify(errorOf('api_quota_exceeded')) }
        left -= many.length
        return reply
      },
    }
    const client = clientOf(limited, { cacheMs: 0 })
    const results = await Promise.all(ips(32).map((ip) => client.check(ip)))
    expect(results.filter(({ ok }) => ok)).toHaveLength(5)
    expect(client.counts()).toMatchObject({ checked: 5, limited: 27 })
    // 32 halved down to what is left, and one more.
    expect(sent.length).toBeLessThan(16)
  })

  it('are fewer together where a burst is too small for them', async () => {
    const { transport, sent } = transportTo(calm)
    const limited: Transport = {
      ...transport,
      send: async (request) => {
        const { ips: many = [''] } = JSON.parse(request.body) as { readonly ips?: string[] }
        const reply = await transport.send(request)
        const refusal = JSON.stringify(errorOf('invalid_input', { param: 'ips' }))
        return many.length > 100 ? { ...reply, status: 400, text: refusal } : reply
      },
    }
    const client = clientOf(limited, { cacheMs: 0 })
    const first = await Promise.all(ips(257).map((ip) => client.check(ip)))
    const count = sent.length
    const second = await Promise.all(ips(257).map((ip) => client.check(ip)))
    expect([...first, ...second].every(({ ok }) => ok)).toBe(true)
    expect(count).toBeLessThan(9)
    expect(sent.slice(count).every(({ body: { ips: many = [] } }) => many.length <= 100)).toBe(true)
  })

  it('go alone where a plan has insights in every answer', async () => {
    const { transport, sent } = transportTo(calm)
    const always: Transport = {
      ...transport,
      send: async (request) => {
        const reply = await transport.send(request)
        return { ...reply, text: reply.text.replace('{', '{"insights":{},') }
      },
    }
    const client = clientOf(always, { cacheMs: 0 })
    await client.check('192.0.2.1')
    await Promise.all(ips(20).map((ip) => client.check(ip)))
    expect(sent.every(({ path }) => !path.includes('batch'))).toBe(true)
  })

  it('refuse a policy that is no text, and send nothing', async () => {
    const { transport, sent } = transportTo(calm)
    const client = clientOf(transport)
    for (const policy of [10n, Number.NaN, null, {}] as never[]) {
      const asked = [client.check('192.0.2.1', { policy }), client.check('192.0.2.2', { policy })]
      expect(await Promise.all(asked)).toMatchObject([
        { reason: 'misconfigured' },
        { reason: 'misconfigured' },
      ])
    }
    expect(sent).toEqual([])
  })

  it('neither go together nor share timers where requests end with theirs', async () => {
    const { transport, sent, state } = transportTo(calm)
    const client = createEdgeClient({
      url: 'http://api',
      key: 'irk_k',
      cacheMs: 0,
      ...quiet,
      ...({ coalesce: undefined } as object),
      transport,
    })
    await Promise.all(ips(20).map((ip) => client.check(ip)))
    expect(sent.every(({ path }) => !path.includes('batch'))).toBe(true)
    const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation(() => ({}) as never)
    await client.check('198.51.100.1')
    timers.mockRestore()
    state.isHolding = true
    expect(await client.check('198.51.100.2')).toMatchObject({ reason: 'timeout' })
  })

  it.each([
    ['of test keys', { key: 'irkt_k' }],
    ['with `coalesce: false`', { coalesce: false }],
  ])('never go together %s', async (_name, options) => {
    const { transport, sent } = transportTo(calm)
    const client = clientOf(transport, { cacheMs: 0, ...options })
    await Promise.all(ips(20).map((ip) => client.check(ip)))
    expect(sent.every(({ path }) => !path.includes('batch'))).toBe(true)
  })
})
