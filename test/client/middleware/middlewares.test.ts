// One suite for the middlewares of all frameworks: what a request comes to for each decision and
// each fault, whose address is checked, and that observing stops nobody.

import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { type IncomingMessage, createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import fastify from 'fastify'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { parseAgent } from '../../../src/agents/agent-status.ts'
import { createSignatureVerifier } from '../../../src/agents/signature-verifier.ts'
import { directoryUrl } from '../../../src/agents/web-bot-auth.ts'
import type {
  AddressHeader,
  AddressedRequest,
  Trust,
} from '../../../src/client/address/client-address.ts'
import type { Action, Client } from '../../../src/client/core/check-result.ts'
import type { ClientFailure } from '../../../src/client/core/outcome-report.ts'
import { guarded, iprisk } from '../../../src/client/middleware/connect-middleware.ts'
import { iprisk as ipriskFastify } from '../../../src/client/middleware/fastify-hook.ts'
import { ipriskProxy } from '../../../src/client/middleware/next-handlers.ts'
import { type Judged, createRequestGuard } from '../../../src/client/middleware/request-guard.ts'
import { createFakeClient } from '../../../src/client/testing/fake-client.ts'
import { agentHost, newSigningKey, signed } from '../../agents/sign.ts'
import { eventually } from '../../eventually.ts'
import { answerFor } from '../stand-in.ts'
import { type App, type AppOptions, edges, frameworks } from './frameworks.ts'

const address = '203.0.113.7'
const login = { method: 'POST', headers: { 'x-forwarded-for': `198.51.100.1, ${address}` } }

const query = '?next=%2F'

const factor = 'second factor'

/** `more`: further headers of the request to this authority. */
type Post = (
  options: AppOptions,
  more?: (authority: string) => Readonly<Record<string, string>>,
) => Promise<Response>
const loginTo = (host: string, more: Parameters<Post>[1] = () => ({})) => ({
  ...login,
  headers: { ...login.headers, ...more(host) },
})
const open: App[] = []
afterEach(async () => {
  for (const app of open.splice(0)) await app.close()
})

const all: readonly (readonly [string, Post])[] = [
  ...Object.entries(frameworks).map(([name, start]): readonly [string, Post] => [
    name,
    async (options, more) => {
      const app = await start(options)
      open.push(app)
      return fetch(`${app.url}${query}`, loginTo(new URL(app.url).host, more))
    },
  ]),
  ...Object.entries(edges).map(([name, make]): readonly [string, Post] => [
    name,
    async (options, more) => {
      const { headers, ...init } = loginTo('app.example', more)
      const named = { ...init, headers: { ...headers, host: 'app.example' } }
      return make(options)(new Request(`http://app.example/login${query}`, named))
    },
  ]),
]

const deciding = (action: Action) => createFakeClient({ [address]: { action } })

describe.each(all)('%s', (_name, post) => {
  it('lets an allowed request through, with the answer on it', async () => {
    const client = deciding('allow')
    const response = await post({ client, policy: 'login', trust: 1 })
    expect([response.status, await response.json()]).toEqual([200, { action: 'allow', address }])
    expect(client.asked).toEqual([{ ip: address, options: { policy: 'login' } }])
    expect(client.outcomes).toEqual([{ ip: address, outcome: 'abusive' }])
  })

  it('sends where the user came from before, and no mistake there fails the login', async () => {
    const client = deciding('allow')
    const before = { ip: '192.0.2.1', at: '2026-08-22T10:00:00Z' }
    const said: unknown[] = []
    const functions: AppOptions['previous'][] = [
      (request) => {
        said.push(request)
        return before
      },
      () => Promise.resolve(before),
      () => undefined,
      () => {
        throw new Error('no session')
      },
      () => Promise.reject(new Error('no session')),
      () => new Promise(() => {}),
    ]
    for (const previous of functions) {
      const response = await post({ client, trust: 1, ...(previous && { previous }) })
      expect(response.status).toBe(200)
    }
    const asked = client.asked.map(({ options }) => options.previous)
    expect(asked).toEqual([before, before, undefined, null, null, null])
    expect(said).toEqual([expect.any(Object)])
  })

  it('sends what a signed request says, so that its signature holds', async () => {
    const client = deciding('allow')
    const key = newSigningKey()
    const now = Math.floor(Date.now() / 1000)
    const parameters = { created: String(now), expires: String(now + 60) }
    let host = ''
    await post({ client, trust: 1, agents: true }, (authority) => {
      host = authority
      const covers = [
        ['"@method"', 'POST'],
        ['"@target-uri"', `https://${authority}/login${query}`],
        ['"signature-agent";key="sig1"', `"https://${agentHost}"`],
      ] as const
      const { headers } = signed({ key, parameters, covers })
      return { ...headers, 'user-agent': 'x'.repeat(2000) }
    })
    const { agent } = client.asked[0]!.options
    expect(agent?.user_agent).toBe('x'.repeat(1024))
    const { signed: claim } = parseAgent(agent, Date.now()).value
    const settings = { directories: [agentHost], authorities: [host] }
    const verifier = createSignatureVerifier(settings, { waitMs: 10_000 })
    verifier.use([{ url: directoryUrl(agentHost), keys: [key] }])
    await verifier.verify([claim!])
    expect(claim?.by).toBe(directoryUrl(agentHost))
    await post({ client, trust: 1, agents: true }, () => ({ 'user-agent': 'curl' }))
    await post({ client, trust: 1 }, () => ({ 'user-agent': 'curl' }))
    const asked = client.asked.map(({ options }) => options.agent)
    expect(asked.slice(1)).toEqual([{ user_agent: 'curl' }, undefined])
  })

  it.each(['challenge', 'block', 'own-word'])('answers %s by a problem', async (action) => {
    const response = await post({ client: deciding(action), trust: 1 })
    expect(response.status).toBe(403)
    expect(response.headers.get('content-type')).toContain('application/problem+json')
    const detail = action === 'block' ? /is not allowed/ : /requires further proof/
    expect(await response.json()).toEqual({
      type: 'about:blank',
      title: 'Forbidden',
      status: 403,
      detail: expect.stringMatching(detail),
      action,
    })
  })

  it("calls the application's own challenge", async () => {
    const response = await post({ client: deciding('challenge'), trust: 1, custom: true })
    expect([response.status, await response.text()]).toEqual([401, 'second factor'])
  })

  it('lets in without an answer where the fallback says so, and stops where not', async () => {
    const timeout = { [address]: 'timeout' } as const
    const open = await post({ client: createFakeClient(timeout), trust: 1 })
    expect(open.status).toBe(200)
    const closed = createFakeClient(timeout, { fallback: 'block' })
    expect((await post({ client: closed, trust: 1 })).status).toBe(403)
  })

  it('leads to its challenge while the key is spent, unless the fallback says otherwise', async () => {
    const limited = { [address]: 'limited' } as const
    const client = createFakeClient(limited)
    expect((await post({ client, trust: 1, custom: true })).status).toBe(401)
    const log = (): undefined => undefined
    const response = await post({ client, trust: 1, custom: true, observe: true, log })
    expect(await response.json()).toEqual({ action: 'challenge', address })
    expect((await post({ client, trust: 1 })).status).toBe(200)
    expect(client.counts().limited).toBe(3)
    for (const fallback of ['allow', { limited: 'allow' }] as const) {
      const chosen = createFakeClient(limited, { fallback })
      expect((await post({ client: chosen, trust: 1, custom: true })).status).toBe(200)
    }
  })

  it('reports that `trust` is missing, and lets in', async () => {
    const onMisconfigured = vi.fn<(failure: ClientFailure) => void>()
    const client = createFakeClient({}, { onMisconfigured })
    expect((await post({ client })).status).toBe(200)
    expect(onMisconfigured).toHaveBeenCalledExactlyOnceWith({
      reason: 'misconfigured',
      message: expect.stringContaining('`trust: 1`') as string,
    })
    expect(client.counts().misconfigured).toBe(1)
    const closed = createFakeClient({}, { fallback: { misconfigured: 'block' } })
    expect((await post({ client: closed })).status).toBe(403)
  })

  it('stops nobody while it observes', async () => {
    const log = vi.fn<(judged: Judged) => void>()
    const response = await post({ client: deciding('block'), trust: 1, observe: true, log })
    expect([response.status, await response.json()]).toEqual([200, { action: 'block', address }])
    expect(log).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ action: 'block', address, observed: true }),
    )
  })
})

describe('a challenge of Fastify', () => {
  it.each<[string, () => unknown]>([
    ['returns', () => factor],
    ['resolves to', () => Promise.resolve(factor)],
  ])('%s its answer', async (_how, challenge) => {
    const app = fastify()
    const preHandler = ipriskFastify({ client: deciding('challenge'), trust: 1, challenge })
    app.post('/login', { preHandler }, () => 'in')
    const response = await app.inject({ url: '/login', ...login, method: 'POST' })
    expect(response.body).toBe(factor)
    await app.close()
  })

  it('that has answered by the reply may return something else', async () => {
    const app = fastify()
    const challenge = (_request: unknown, reply: { send: (body: unknown) => unknown }) => {
      reply.send(factor)
      return 'another'
    }
    const preHandler = ipriskFastify({ client: deciding('challenge'), trust: 1, challenge })
    app.post('/login', { preHandler }, () => 'in')
    const response = await app.inject({ url: '/login', ...login, method: 'POST' })
    expect(response.body).toBe(factor)
    await app.close()
  })
})

describe('a server of node:http', () => {
  const wrong = new Error('of the application')
  const serving = async (
    options: Partial<Parameters<typeof guarded>[0]>,
    handler: () => unknown,
  ): Promise<number> => {
    const client = deciding(options.challenge === undefined ? 'allow' : 'challenge')
    const server = createServer(guarded({ client, trust: 1, ...options }, handler))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { status } = await fetch(
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      login,
    )
    server.close()
    server.closeAllConnections()
    return status
  }
  const thrown = (): never => {
    throw wrong
  }

  it('answers 500 where its handler throws or rejects', async () => {
    expect(await serving({}, thrown)).toBe(500)
    expect(await serving({}, () => Promise.reject(wrong))).toBe(500)
  })

  it('lets nobody in where a challenge fails, whatever it fails with', async () => {
    for (const cause of [wrong, undefined, '']) {
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- that is what is tried
      expect(await serving({ challenge: () => Promise.reject(cause) }, thrown)).toBe(500)
    }
    const handler = vi.fn<() => void>()
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- that is what is tried
    await serving({ challenge: () => Promise.reject(undefined) }, handler)
    expect(handler).not.toHaveBeenCalled()
  })
})

describe('a header of a proxy', () => {
  it.each<[AddressHeader, string]>([
    ['x-forwarded-for', `198.51.100.1, ${address}:4711`],
    ['forwarded', `For="198.51.100.1", FOR="${address}:_p";PROTO=https`],
    ['cf-connecting-ip', address],
    ['true-client-ip', address],
    ['x-real-ip', address],
    ['fly-client-ip', address],
    ['x-azure-clientip', `${address}:443`],
  ])('%s is read from a real request, in capitals too', async (header, value) => {
    const client = createFakeClient({ [address]: { action: 'block' } })
    const options = { client, trust: 'loopback', header }
    const server = createServer(guarded(options, (_request, reply) => reply.end('in')))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    for (const name of [header, header.toUpperCase()]) {
      const sent = request({ port, host: '127.0.0.1', headers: { [name]: value }, agent: false })
      const [response] = (await once(sent.end(), 'response')) as [IncomingMessage]
      response.resume()
      expect(response.statusCode).toBe(403)
    }
    server.close()
    server.closeAllConnections()
    expect(client.asked.map(({ ip }) => ip)).toEqual([address, address])
    expect(client.counts()).toMatchObject({ checked: 2, misconfigured: 0 })
  })
})

describe('a log', () => {
  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('of the application')
      },
    ],
    ['rejects', () => Promise.reject(new Error('of the application, later'))],
  ])('that %s is not the problem of the login', async (_how, log) => {
    for (const observe of [true, false]) {
      const judge = createRequestGuard({ client: deciding('block'), observe, log })
      const { stop } = await judge({ headers: {}, peer: address })
      expect(stop).toBe(observe ? undefined : 'default')
    }
  })
})

describe('a header that any client can write', () => {
  it('undoes no decision to stop a private address', async () => {
    const told: string[] = []
    const client = createFakeClient(
      { '10.1.2.3': { action: 'block' } },
      { onMisconfigured: ({ message }) => told.push(message) },
    )
    const headers = { 'x-forwarded-for': address }
    const judge = createRequestGuard({ client })
    const { judged, stop } = await judge({ headers, peer: '10.1.2.3' })
    expect([judged.action, stop]).toEqual(['block', 'default'])
    expect(told).toHaveLength(1)
  })

  it('is no mistake on a server without proxies', async () => {
    const client = createFakeClient({ [address]: { action: 'allow' } })
    const headers = { 'x-forwarded-for': '10.0.0.1, 1.1.1.1', 'x-real-ip': '1.1.1.1' }
    const { judged } = await createRequestGuard({ client })({ headers, peer: address })
    expect(judged.result.ok).toBe(true)
    expect(client.counts().misconfigured).toBe(0)
  })
})

describe('a score', () => {
  it('without a decision stops nobody', async () => {
    const client = createFakeClient({ [address]: { risk_score: 100, classification: 'tor' } })
    const judge = createRequestGuard({ client })
    const { judged, stop } = await judge({ headers: {}, peer: address })
    expect([judged.action, stop]).toEqual(['allow', undefined])
  })
})

describe('a report', () => {
  it('has the id of the request of the check', async () => {
    const report = vi.fn<Client['report']>(() => Promise.resolve(true))
    const result = { ok: true, answer: answerFor(address), decision: undefined } as const
    const check = () => Promise.resolve({ ...result, requestId: 'r1' })
    const request = { headers: {}, peer: address }
    await createRequestGuard({ client: { check, report } })(request)
    expect(await iprisk.report(request, 'legitimate')).toBe(true)
    expect(report).toHaveBeenCalledExactlyOnceWith(address, 'legitimate', 'r1')
  })
})

describe('proxy.ts of Next', () => {
  it('goes on or answers', async () => {
    const request = () => new Request('http://app.example/login', login)
    const client = deciding('block')
    expect((await ipriskProxy({ client, trust: 1 })(request()))?.status).toBe(403)
    client.answer(address, { action: 'allow' })
    expect(await ipriskProxy({ client, trust: 1 })(request())).toBeUndefined()
  })
})

describe('a request whose address nobody knows', () => {
  const judgeWith = async (options: Pick<AppOptions, 'trust'>, request: AddressedRequest) => {
    const told: string[] = []
    const client = createFakeClient({}, { onMisconfigured: ({ message }) => told.push(message) })
    const { judged, stop } = await createRequestGuard({ client, ...options })(request)
    expect(judged.address).toBeUndefined()
    return { action: judged.action, stop, told }
  }
  const mistake = {
    action: 'allow',
    stop: undefined,
    told: [expect.stringContaining('`trust: 1`')],
  }
  const challenge = { action: 'challenge', stop: 'default', told: [] }
  const said = { headers: { 'x-forwarded-for': 'garbage' } }

  it.each<[string, Pick<AppOptions, 'trust'>, AddressedRequest, object]>([
    ['no peer, nobody trusted', {}, said, mistake],
    ['no peer, prefixes that hold none', { trust: 'loopback' }, said, mistake],
    ['no peer, no header', { trust: 1 }, { headers: {} }, mistake],
    ['no peer, garbage in a believed header', { trust: 1 }, said, challenge],
    ['an ended connection', {}, { headers: {}, socket: { destroyed: true } }, challenge],
  ])('%s', async (_claim, options, request, expected) => {
    expect(await judgeWith(options, request)).toEqual(expected)
  })

  it.each(['destroy', 'resetAndDestroy'] as const)(
    'is challenged where its client ends the connection (%s)',
    async (end) => {
      const judged: object[] = []
      const server = createServer((request) => {
        socket[end]()
        const wait = end === 'destroy' ? 50 : 0
        const judge = async (): Promise<void> => {
          if (wait > 0) await setTimeout(wait)
          judged.push(await judgeWith({}, request))
        }
        void judge().catch((cause: unknown) => judged.push({ cause }))
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      socket.write('POST /login HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\n')
      await eventually(() => judged.length > 0)
      server.close()
      expect(judged).toEqual([challenge])
    },
  )

  it('over a Unix socket is the mistake of the setup, until its proxy is counted', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'iprisk-socket-')), 'app')
    const told: string[] = []
    const client = createFakeClient(
      { [address]: { action: 'block' } },
      { onMisconfigured: ({ message }) => told.push(message) },
    )
    const statusWith = async (trust: Trust): Promise<number | undefined> => {
      const server = createServer(guarded({ client, trust }, (_request, reply) => reply.end('in')))
      await new Promise<void>((resolve) => server.listen(path, resolve))
      const [response] = (await once(
        request({ socketPath: path, headers: login.headers, agent: false }).end(),
        'response',
      )) as [IncomingMessage]
      response.resume()
      server.close()
      server.closeAllConnections()
      return response.statusCode
    }
    expect(await statusWith('loopback')).toBe(200)
    expect(told).toHaveLength(1)
    expect(await statusWith(1)).toBe(403)
    expect(told).toHaveLength(1)
  })
})

describe('a wrong option', () => {
  type Options = Parameters<typeof createRequestGuard>[0]
  const client = createFakeClient()

  it.each<[string, readonly unknown[], string]>([
    ['client', [undefined, null, {}, 'client'], '`client` must be a client'],
    ['policy', [1, null, {}], '`policy` must be of type string'],
    ['policy', [''], '`policy` must not be empty'],
    ['insights', ['yes', null], '`insights` must be of type boolean'],
    ['observe', ['false', 0, null], '`observe` must be of type boolean'],
    ['log', ['console', null], '`log` must be of type function'],
    ['challenge', ['/login', null], '`challenge` must be of type function'],
    ['block', [403, null], '`block` must be of type function'],
    ['actions', ['block', null], '`actions` must be of type object'],
    ['actions', [{ review: 1 }, ['block']], '`actions.'],
    ['peer', ['127.0.0.1'], '`peer` must be of type function'],
    ['trust', [true, false, null, () => true, 1n, Symbol('a'), {}, NaN, 'here'], '`trust`: give'],
    ['trust', [[null], [true], [Symbol('a')], [1n]], '`trust`: give'],
    ['header', [null, 1, {}, 'x-client-ip'], '`header` must be one of'],
  ])('%s of %o is a mistake of the start, not of the first login', (name, values, said) => {
    for (const value of values) {
      const made = (): unknown => createRequestGuard({ client, [name]: value })
      expect(made).toThrow(TypeError)
      expect(made).toThrow(`iprisk: `)
      expect(made).toThrow(said)
      expect(made).toThrow(expect.objectContaining({ code: 'usage' }))
    }
  })

  it.each([undefined, null, 'login'])('in place of all of them is one, too: %j', (options) => {
    const made = (): unknown => createRequestGuard(options as unknown as Options)
    expect(made).toThrow('the options must be an object')
  })

  it('is none that is undefined', () => {
    const names = ['policy', 'insights', 'trust', 'header', 'observe', 'log', 'block', 'actions']
    const none = Object.fromEntries(names.map((name) => [name, undefined]))
    expect(() => createRequestGuard({ client, ...none })).not.toThrow()
  })

  it.each(['', 'loopback,private', 'loopback private'])('is the trust %j', (trust) => {
    createRequestGuard({ client, trust: ['loopback', 'private'] })
    expect(() => createRequestGuard({ client, trust })).toThrow('`trust`')
  })
})

describe('an action that is no word', () => {
  const odd = [null, 1, '', {}, ['allow'], Object.create(null), { toString: null }] as unknown[]

  it('of a decision is reported, and has the fallback of a mistake', async () => {
    for (const action of odd) {
      const onMisconfigured = vi.fn<(failure: ClientFailure) => void>()
      const client = createFakeClient(
        { [address]: { action: action as Action } },
        { onMisconfigured, fallback: { misconfigured: 'block' } },
      )
      const judge = createRequestGuard({ client, policy: 'login', actions: {} })
      const { judged, stop } = await judge({ headers: {}, peer: address })
      expect([judged.action, stop, judged.address]).toEqual(['block', 'default', address])
      expect(onMisconfigured).toHaveBeenCalledOnce()
    }
  })

  it('of a decision that is one itself, or of a fallback, lets nobody in', async () => {
    for (const decision of [null, 'allow', {}, ...odd]) {
      const fallback = decision as Action
      for (const result of [
        { ok: true, answer: answerFor(address), decision: decision as undefined } as const,
        { ok: false, reason: 'unavailable', fallback } as const,
      ]) {
        if (!result.ok && fallback === 'allow') continue
        const judge = createRequestGuard({ client: { check: () => Promise.resolve(result) } })
        const { judged, stop } = await judge({ headers: {}, peer: address })
        expect([judged.action, stop]).toEqual(['challenge', 'default'])
      }
    }
  })
})
