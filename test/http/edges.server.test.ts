// What the server says at its edges, on real sockets (contract 5.2): which of the things is wrong
// with an input, what `include` takes, and how long a connection is kept.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressFaultText, checkFaults, includeFault } from '../../src/api/input-fault.ts'
import { paths } from '../../src/api/public-port.ts'
import { type Server, makeKey, newState, startServer } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { type Request, errorOf, faultOf, sendTo } from './api-client.ts'
import { type Response, converse, responsesIn } from './raw-socket.ts'

const { check: checkPath, meta: metaPath } = paths

let server: Server
let bare: Server
const keys: Record<string, string> = {}

beforeAll(async () => {
  const state = newState()
  keys['good'] = await makeKey(state)
  keys['team'] = await makeKey(state, { plan: 'team' })
  keys['free'] = await makeKey(state, { plan: 'free' })
  keys['noapi'] = await makeKey(state, { apis: [] })
  keys['slow'] = await makeKey(state, { limits: { perSecond: 1, burst: 2 } })
  keys['metered'] = await makeKey(state, { limits: { quotaPerMonth: 1 } })
  server = await startServer({ table: writeSmallTable(), workers: 2, state })
  bare = await startServer({ table: '/nonexistent/table.iprisk', state })
})

afterAll(async () => {
  await server.stop()
  await bare.stop()
})

/** One request on a connection of its own, with a good key. */
const send = (request: Request): Promise<Response> =>
  sendTo({ port: server.port, path: checkPath, key: keys['good']!, ...request })

describe('a wrong input', () => {
  it.each([
    ['', checkFaults.empty],
    ['ip=9.1.2.3', checkFaults.no_json],
    ['["9.1.2.3"]', checkFaults.array],
    ['"9.1.2.3"', checkFaults.no_object],
    ['{}', checkFaults.no_members],
    ['{"address":"9.1.2.3"}', checkFaults.other_member],
    ['{"ips":["9.1.2.3"]}', checkFaults.batch],
    ['{"ip":["9.1.2.3"]}', checkFaults.ip_array],
    ['{"ip":7}', checkFaults.no_string],
  ])('says of the body %s what is wrong', async (body, fault) => {
    expect(faultOf(await send({ body }))).toEqual(fault)
  })

  it.each([
    ['', 'The address is empty'],
    ['9.1.2.3, 9.1.2.4', 'More than one'],
    [' 9.1.2.3', 'The address contains white space'],
    ['example.com', 'A host name'],
    ['9.1.2.0/24', 'A prefix, not an address: send one address'],
    ['fe80::1%eth0', 'The address has a zone'],
    ['9.1.2.3:80', 'The address has a port'],
    ['[2001:db8::1]', 'The address has a port or brackets'],
    ['9.1.2.03', 'Leading zeros'],
    ['9.1.2', 'Not an IPv4 address'],
    ['9::1::2', 'Not an IPv6 address'],
    ['?', 'Not an IP address'],
  ])('says of the address %j what is wrong', async (ip, beginning) => {
    const fault = faultOf(await send({ body: JSON.stringify({ ip }) }))
    expect(fault).toEqual({ message: addressFaultText(ip), param: 'ip' })
    expect(fault.message.startsWith(beginning)).toBe(true)
  })
})

describe('include', () => {
  const path = `${checkPath}?include=insight`

  it('of another value is 400 that names it, before the body is judged', async () => {
    for (const body of ['{"ip":"9.1.2.3"}', 'x', ' '.repeat(70_000)]) {
      expect(faultOf(await send({ path, body }))).toEqual(includeFault)
    }
    const batch = await send({ path: `${checkPath}/batch?include=x`, body: '{"ips":["9.1.2.3"]}' })
    expect(faultOf(batch)).toEqual(includeFault)
  })

  it('comes behind 404, 405, 401, 403 and the rate', async () => {
    expect(errorOf(await send({ path: `/x?include=x` }))).toBe('not_found')
    expect(errorOf(await send({ path, method: 'GET', body: '' }))).toBe('method_not_allowed')
    expect(errorOf(await send({ path, key: 'x' }))).toBe('invalid_api_key')
    expect(errorOf(await send({ path, key: keys['free']! }))).toBe('api_not_enabled_for_plan')
    expect(errorOf(await send({ path, key: keys['noapi']! }))).toBe('token_not_allowed_for_api')
    const key = keys['slow']!
    const codes = [await send({ path, key }), await send({ path, key }), await send({ path, key })]
    expect(codes.map(errorOf)).toEqual(['invalid_input', 'invalid_input', 'rate_limit_exceeded'])
  })

  it('of another value comes before 503, and spends rate and no quota', async () => {
    expect(faultOf(await send({ path, port: bare.port }))).toEqual(includeFault)
    const key = keys['metered']!
    for (let i = 0; i < 5; i += 1) expect(faultOf(await send({ path, key }))).toEqual(includeFault)
    expect((await send({ key })).status).toBe(200)
    expect(errorOf(await send({ key }))).toBe('api_quota_exceeded')
  })

  it('of another value keeps the connection, also where the body is large', async () => {
    const body = ' '.repeat(50_000)
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys['good']}\r\n`
    const request = `${head}Content-Length: ${body.length}\r\n\r\n${body}`
    const heard = await converse(server.port, [request, request])
    expect(heard.closed).toBe(false)
    expect(responsesIn(heard.text).map(faultOf)).toEqual([includeFault, includeFault])
  })

  it('of another value is answered ahead where the body comes in chunks', async () => {
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys['good']}\r\n`
    const chunk = '10\r\n{"ip":"9.1.2.3"}\r\n'
    const parts = [`${head}Transfer-Encoding: chunked\r\n\r\n`, chunk]
    const heard = await converse(server.port, parts)
    expect(heard.text).toContain('HTTP/1.1 400 ')
    expect(heard.text).toContain('"param":"include"')
    expect(heard.text.toLowerCase()).toContain('connection: close')
    expect(heard.text.toLowerCase()).not.toContain('keep-alive')
  })

  it('of insights that the plan lacks is null, at the end of the plain answer', async () => {
    const key = keys['team']!
    const plain = await send({ key, body: '{"ip":"9.1.2.3"}' })
    const asked = await send({
      key,
      body: '{"ip":"9.1.2.3"}',
      path: `${checkPath}?include=insights`,
    })
    expect(asked.body).toBe(`${plain.body.slice(0, -1)},"insights":null}`)
    const bogon = await send({ key, body: '{"ip":"::1"}', path: `${checkPath}?include=,insights` })
    expect(JSON.parse(bogon.body)).toMatchObject({ classification: 'bogon', insights: null })
  })
})

describe('Keep-Alive', () => {
  const kept = (path: string, method: string, body: string): string =>
    `${method} ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys['good']}\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`

  it.each([
    ['a check', checkPath, 'POST', '{"ip":"9.1.2.3"}', 200],
    ['a check that is refused', checkPath, 'POST', 'x', 400],
    ['a batch', `${checkPath}/batch`, 'POST', '{"ips":["9.1.2.3"]}', 200],
    ['meta', metaPath, 'GET', '', 200],
    ['a path that is not there', '/x', 'GET', '', 404],
  ])('says on %s how long the connection is kept', async (_name, path, method, body, status) => {
    const heard = await converse(server.port, [kept(path, method, body)])
    expect(heard.closed).toBe(false)
    const [response] = responsesIn(heard.text)
    expect(response).toMatchObject({ status, headers: { 'keep-alive': 'timeout=5' } })
    expect(response!.headers).not.toHaveProperty('connection')
  })

  it('says so of a batch in chunks', async () => {
    const ips = Array.from({ length: 300 }, () => '9.1.2.3')
    const request = kept(`${checkPath}/batch`, 'POST', JSON.stringify({ ips }))
    // Until the pool has its first thread.
    const { text } = await converse(server.port, [request], { quietMs: 2000 })
    const head = text.slice(0, text.indexOf('\r\n\r\n')).toLowerCase()
    expect(head).toContain('transfer-encoding: chunked')
    expect(head).toContain('keep-alive: timeout=5')
  })

  it('is never said to a client that closes', async () => {
    const requests: readonly Request[] = [
      {},
      { body: 'x' },
      { key: 'x' },
      { method: 'HEAD', body: '' },
      { path: metaPath, method: 'HEAD', body: '' },
      { path: metaPath, method: 'GET', body: '' },
      { path: `${checkPath}/batch`, body: '{"ips":["9.1.2.3"]}' },
    ]
    for (const request of requests) {
      expect((await send(request)).headers).not.toHaveProperty('keep-alive')
    }
  })

  it.each([
    ['a body in chunks', 'POST', checkPath, 'Transfer-Encoding: chunked', '0\r\n\r\n'],
    ['no stated length', 'GET', metaPath, 'Accept: */*', ''],
    ['HEAD', 'HEAD', metaPath, 'Content-Length: 0', ''],
    ['a body far too large', 'POST', checkPath, 'Content-Length: 99999999', 'x'],
    ['a body that begins like a chunk', 'POST', checkPath, 'Content-Length: 2', 'a1'],
  ])('is never beside Connection: close: %s', async (_name, method, path, header, body) => {
    const request = `${method} ${path} HTTP/1.1\r\nHost: a\r\n${header}\r\n`
    const key = `Authorization: Bearer ${keys['good']}\r\n\r\n`
    const { text, closed } = await converse(server.port, [request + key + body])
    expect(closed).toBe(true)
    const head = text.slice(0, text.indexOf('\r\n\r\n')).toLowerCase()
    expect(head).toContain('connection: close')
    expect(head).not.toContain('keep-alive')
  })
})
