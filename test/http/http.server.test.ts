// The contract of the public port on real sockets: every status and error code, their order,
// request ids, methods, and bad input by table: bodies, addresses, headers, keys.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ErrorBody } from '../../deploy/reference/openapi.ts'
import { createKey, revokeKey } from '../../src/account/keys/issue-key.ts'
import { openLmdbKeyStore } from '../../src/account/stores/lmdb/lmdb-stores.ts'
import { parseDay } from '../../src/base/day.ts'
import { describedDocument } from '../../deploy/reference/described-document.ts'
import { openTable } from '../../src/table/open-table.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { type Server, makeKey, newState, startServer } from '../serve/server.ts'
import { type Request, errorOf, sendTo } from './api-client.ts'
import { type Response, converse, responsesIn } from './raw-socket.ts'

const checkPath = '/v1/intelligence/ip-risk/check'
const metaPath = '/v1/intelligence/ip-risk/meta'
const table = writeSmallTable()

let server: Server
let bare: Server
const keys: Record<string, string> = {}

beforeAll(async () => {
  const state = newState()
  keys['good'] = await makeKey(state)
  keys['team'] = await makeKey(state, { plan: 'team' })
  keys['free'] = await makeKey(state, { plan: 'free' })
  keys['noapi'] = await makeKey(state, { apis: [] })
  keys['freeNoApi'] = await makeKey(state, { plan: 'free', apis: [] })
  keys['unknownPlan'] = await makeKey(state, { plan: 'gone' })
  keys['expired'] = await makeKey(state, { expires: parseDay('2020-01-01')! })
  const store = await openLmdbKeyStore(state)
  const made = await createKey(store, { name: '', plan: 'team', apis: ['ip-risk'] }, Date.now())
  await revokeKey(store, made.record.id, Date.now())
  await store.close()
  keys['revoked'] = made.text
  server = await startServer({ table, workers: 2, state })
  bare = await startServer({ table: '/nonexistent/table.iprisk', state: state })
})

afterAll(async () => {
  await server.stop()
  await bare.stop()
})

/** One request on a connection of its own, with a good key. */
const send = (request: Request): Promise<Response> =>
  sendTo({ port: server.port, path: checkPath, key: keys['good']!, ...request })

describe('an answer', () => {
  const addresses = ['9.1.2.3', '9.5.5.5', '11.1.1.1', '127.0.0.1', '2a01:4f8::1', '::ffff:9.1.2.3']

  it.each([...addresses, '2002:0b01:0102::', '2A01:04F8:0::3', '64:ff9b::11.1.1.1'])(
    'for %s is what the library says',
    async (ip) => {
      const library = openTable(table)
      const response = await send({ body: JSON.stringify({ ip }) })
      expect(response.status).toBe(200)
      expect(JSON.parse(response.body)).toEqual(library.check(ip))
      expect(response.headers['content-type']).toBe('application/json')
      expect(response.headers['cache-control']).toBe('no-store')
      expect(response.headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
      library.close()
    },
  )

  it.each([
    ['white space everywhere', ' \t\r\n{ "ip" \n:\t"9.1.2.3" } \n'],
    ['an escaped address', '{"ip":"9\\u002e1.2\\u002E3"}'],
    ['an escaped member', '{"\\u0069p":"9.1.2.3"}'],
    ['a repeated ip, the last one good', '{"ip":"x","ip":"9.1.2.3"}'],
    ['a repeated ip, once as another type', '{"ip":7,"ip":"9.1.2.3"}'],
    ['an escaped and a plain ip', '{"ip":"9.9.9.9","\\u0069\\u0070":"9.1.2.3"}'],
    ['members before it', '{"a":[1,{"ip":"9.9.9.9"}],"ip":"9.1.2.3"}'],
    ['members behind it', '{"ip":"9.1.2.3","z":{"ip":"9.9.9.9"},"n":-1.5e+9}'],
    ['an unknown member in many alphabets', '{"ümlaut":"日本","ip":"9.1.2.3","😀":null}'],
    ['a body of exactly 64 KiB', `{"ip":"9.1.2.3"${' '.repeat(65_536 - 16)}}`],
  ])('comes for %s', async (_name, body) => {
    const response = await send({ body })
    expect(response.status).toBe(200)
    expect(JSON.parse(response.body)).toMatchObject({ ip: '9.1.2.3', classification: 'tor' })
  })

  it.each(['text/plain', '', 'application/xml; charset="', 'multipart/form-data'])(
    'does not ask for a Content-Type: %j',
    async (type) => {
      expect((await send({ headers: [`Content-Type: ${type}`] })).status).toBe(200)
    },
  )

  it.each(['bearer', 'BEARER', 'bEaReR'])('takes the scheme as %s', async (scheme) => {
    const headers = [`Authorization: ${scheme} ${keys['good']}`]
    expect((await send({ key: '', headers })).status).toBe(200)
  })

  it('ignores of a query what it does not know', async () => {
    expect((await send({ path: `${checkPath}?other=insights&x&include=` })).status).toBe(200)
  })
})

describe('400 invalid_input', () => {
  const deep = 30_000
  const bodies: readonly (readonly [string, string | Uint8Array])[] = [
    ['nothing', ''],
    ['white space', ' \r\n'],
    ['a word', 'ip'],
    ['an address', '9.1.2.3'],
    ['a string', '"9.1.2.3"'],
    ['a number', '9'],
    ['null', 'null'],
    ['true', 'true'],
    ['an array', '["9.1.2.3"]'],
    ['an array of objects', '[{"ip":"9.1.2.3"}]'],
    ['an empty object', '{}'],
    ['another member', '{"address":"9.1.2.3"}'],
    ['another case', '{"IP":"9.1.2.3"}'],
    ['ip inside another member', '{"a":{"ip":"9.1.2.3"}}'],
    ['ip of the prototype', '{"__proto__":{"ip":"9.1.2.3"}}'],
    ['ip null', '{"ip":null}'],
    ['ip a number', '{"ip":9}'],
    ['ip a boolean', '{"ip":true}'],
    ['ip an array', '{"ip":["9.1.2.3"]}'],
    ['ip an object', '{"ip":{"ip":"9.1.2.3"}}'],
    ['a repeated ip, the last one bad', '{"ip":"9.1.2.3","ip":"x"}'],
    ['a repeated ip, the last one null', '{"ip":"9.1.2.3","ip":null}'],
    ['single quotes', "{'ip':'9.1.2.3'}"],
    ['no quotes', '{ip:"9.1.2.3"}'],
    ['a comma at the end', '{"ip":"9.1.2.3",}'],
    ['a comma at the beginning', '{,"ip":"9.1.2.3"}'],
    ['no colon', '{"ip" "9.1.2.3"}'],
    ['no closing brace', '{"ip":"9.1.2.3"'],
    ['no closing quote', '{"ip":"9.1.2.3}'],
    ['two objects', '{"ip":"9.1.2.3"}{"ip":"9.1.2.3"}'],
    ['something behind it', '{"ip":"9.1.2.3"}x'],
    ['a NUL behind it', '{"ip":"9.1.2.3"}\0'],
    ['a comment', '{"ip":"9.1.2.3"/*x*/}'],
    ['two byte order marks', '\ufeff\ufeff{"ip":"9.1.2.3"}'],
    ['a form feed as white space', '\f{"ip":"9.1.2.3"}'],
    ['a no-break space as white space', '\u00a0{"ip":"9.1.2.3"}'],
    ['UTF-16', Buffer.from('{"ip":"9.1.2.3"}', 'utf16le')],
    ['a byte that is no UTF-8', Buffer.from('{"ip":"9.1.2.3","a":"\xff"}', 'latin1')],
    ['an overlong form', Buffer.from('{"ip":"9.1.2.3","a":"\xc0\xaf"}', 'latin1')],
    ['a surrogate as UTF-8', Buffer.from('{"ip":"9.1.2.3","a":"\xed\xa0\x80"}', 'latin1')],
    ['a cut character', Buffer.from('{"ip":"9.1.2.3","a":"\xe2\x82"}', 'latin1')],
    ['bad UTF-8 beside a good ip', Buffer.from('{"a":"\xfe","ip":"9.1.2.3"}', 'latin1')],
    ['a bad escape', '{"ip":"9.1.2.3","a":"\\x"}'],
    ['half an escape', '{"ip":"9.1.2.3","a":"\\u00"}'],
    ['a line end in a string', '{"ip":"9.1.2.3","a":"\n"}'],
    ['a tab in the address', '{"ip":"9.1.2.3\t"}'],
    ['a number with a zero before it', '{"ip":"9.1.2.3","n":01}'],
    ['NaN', '{"ip":"9.1.2.3","n":NaN}'],
    ['a form', 'ip=9.1.2.3'],
    ['XML', '<ip>9.1.2.3</ip>'],
    ['brackets without end', '['.repeat(deep)],
    ['objects without end', '{"a":'.repeat(deep / 5)],
    ['deep brackets in a member that does not count', `{"a":${'['.repeat(deep)}`],
    ['random bytes', Buffer.from(Array.from({ length: 999 }, (_, i) => (i * 167) & 0xff))],
  ]

  it.each(bodies)('for the body: %s', async (_name, body) => {
    expect(errorOf(await send({ body }))).toBe('invalid_input')
  })

  it.each(
    [
      ['', ' ', '.', ':', '0', '1.2.3', '1.2.3.4.5', '1.2.3.256', '1.2.3.04', '01.2.3.4'],
      ['1.2.3.4 ', ' 1.2.3.4', '1.2.3.4/32', '1.2.3.4:80', '0x1.2.3.4', '1.2.3.-4', '1..2.3'],
      ['16909060', '１.2.3.4', '1.2.3.٤', '[::1]', '::1%eth0', '2a00::/16', ':::', '1::2::3'],
      ['12345::', 'g::1', '::1.2.3', '::1.2.3.256', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9'],
      ['localhost', 'example.com', '\0', '1.2.3.4\0', '\ud800', '😀', '9'.repeat(60_000)],
    ].flat(),
  )('for the address %j', async (ip) => {
    expect(errorOf(await send({ body: JSON.stringify({ ip }) }))).toBe('invalid_input')
  })

  it('never repeats what was sent', async () => {
    const word = '<script>alert(1)</script>'
    const bodies = [word, `{"ip":"${word}"}`, `{"${word}":1}`, `{"ip":"9.1.2.3/${word}"}`]
    for (const body of [...bodies, `{"ip":"9.1.2.3%${word}"}`, `{"ip":["${word}"]}`]) {
      expect((await send({ body })).body).not.toContain('script')
    }
    const path = `${checkPath}?include=${encodeURIComponent(word)}`
    expect((await send({ path })).body).not.toContain('script')
  })
})

describe('401 invalid_api_key', () => {
  const values: readonly (readonly [string, () => readonly string[]])[] = [
    ['no header', () => []],
    ['an empty header', () => ['Authorization:']],
    ['a scheme alone', () => ['Authorization: Bearer']],
    ['a scheme and spaces', () => ['Authorization: Bearer   ']],
    ['a key alone', () => [`Authorization: ${keys['good']}`]],
    ['another scheme', () => [`Authorization: Basic ${keys['good']}`]],
    ['no space behind the scheme', () => [`Authorization: Bearer${keys['good']}`]],
    ['a key that is none', () => ['Authorization: Bearer abc']],
    [
      'a key of the right form',
      () => [`Authorization: Bearer irk_${'A'.repeat(12)}_${'B'.repeat(38)}`],
    ],
    ['a key with one character changed', () => [`Authorization: Bearer ${change(keys['good']!)}`]],
    ['a key cut short', () => [`Authorization: Bearer ${keys['good']!.slice(0, -1)}`]],
    ['a key with more behind it', () => [`Authorization: Bearer ${keys['good']}x`]],
    ['two keys in one header', () => [`Authorization: Bearer ${keys['good']} ${keys['good']}`]],
    [
      'the same key twice',
      () => Array(2).fill(`Authorization: Bearer ${keys['good']}`) as string[],
    ],
    [
      'a good key and a bad one',
      () => [`Authorization: Bearer ${keys['good']}`, 'Authorization: Bearer x'],
    ],
    [
      'a good key and an empty one',
      () => [`Authorization: Bearer ${keys['good']}`, 'Authorization:'],
    ],
    ['another header', () => [`X-Api-Key: ${keys['good']}`]],
    ['bytes above ASCII', () => ['Authorization: Bearer \xe9\xff']],
    ['a very long value', () => [`Authorization: Bearer ${'a'.repeat(3000)}`]],
    ['an expired key', () => [`Authorization: Bearer ${keys['expired']}`]],
    ['a revoked key', () => [`Authorization: Bearer ${keys['revoked']}`]],
  ]

  it.each(values)('for %s', async (_name, headers) => {
    const response = await send({ key: '', headers: headers() })
    expect(errorOf(response)).toBe('invalid_api_key')
    expect(response.headers['www-authenticate']).toBe('Bearer')
  })

  it('comes without the header that only a 401 has elsewhere', async () => {
    expect((await send({})).headers).not.toHaveProperty('www-authenticate')
  })
})

function change(key: string): string {
  const last = key.at(20) === 'a' ? 'b' : 'a'
  return key.slice(0, 20) + last + key.slice(21)
}

describe('the order of errors', () => {
  const tooLarge = ' '.repeat(70_000)
  const wrong: Request = { body: 'x' }

  it('404 and 405 before the key', async () => {
    expect(errorOf(await send({ ...wrong, path: '/', key: '' }))).toBe('not_found')
    expect(errorOf(await send({ ...wrong, method: 'PUT', key: '' }))).toBe('method_not_allowed')
  })
  it('401 before the body', async () => {
    expect(errorOf(await send({ ...wrong, key: 'x' }))).toBe('invalid_api_key')
    expect(errorOf(await send({ body: tooLarge, key: 'x' }))).toBe('invalid_api_key')
  })
  it('403 for the plan before the body, and before 403 for the key', async () => {
    expect(errorOf(await send({ ...wrong, key: keys['free']! }))).toBe('api_not_enabled_for_plan')
    expect(errorOf(await send({ key: keys['unknownPlan']! }))).toBe('api_not_enabled_for_plan')
    expect(errorOf(await send({ key: keys['freeNoApi']! }))).toBe('api_not_enabled_for_plan')
  })
  it('403 for the key before the body', async () => {
    expect(errorOf(await send({ ...wrong, key: keys['noapi']! }))).toBe('token_not_allowed_for_api')
    expect(errorOf(await send({ body: tooLarge, key: keys['noapi']! }))).toBe(
      'token_not_allowed_for_api',
    )
  })
  it('413 from one byte above 64 KiB', async () => {
    expect(errorOf(await send({ body: ' '.repeat(65_537) }))).toBe('payload_too_large')
    expect(errorOf(await send({ body: tooLarge }))).toBe('payload_too_large')
    expect(errorOf(await send({ body: ' '.repeat(65_536) }))).toBe('invalid_input')
  })
  it('413 for a length that is never sent', async () => {
    const head = `POST ${checkPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys['good']}\r\n`
    const heard = await converse(server.port, [`${head}Content-Length: 99999999999\r\n\r\nabc`])
    expect(heard.closed).toBe(true)
    expect(errorOf(responsesIn(heard.text)[0]!)).toBe('payload_too_large')
  })
  it('413 for chunks that together are too many', async () => {
    const head = `POST ${checkPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys['good']}\r\n`
    const chunk = `2000\r\n${' '.repeat(0x2000)}\r\n`
    const parts = [`${head}Transfer-Encoding: chunked\r\n\r\n`, chunk.repeat(9), '0\r\n\r\n']
    expect(errorOf(responsesIn((await converse(server.port, parts)).text)[0]!)).toBe(
      'payload_too_large',
    )
  })
  it('without a table: 404, 405, 401, 403, 413 and 400 as ever, then 503', async () => {
    const { port } = bare
    expect(errorOf(await send({ port, path: '/x' }))).toBe('not_found')
    expect(errorOf(await send({ port, method: 'GET' }))).toBe('method_not_allowed')
    expect(errorOf(await send({ port, key: 'x' }))).toBe('invalid_api_key')
    expect(errorOf(await send({ port, key: keys['free']! }))).toBe('api_not_enabled_for_plan')
    expect(errorOf(await send({ port, key: keys['noapi']! }))).toBe('token_not_allowed_for_api')
    expect(errorOf(await send({ port, body: tooLarge }))).toBe('payload_too_large')
    expect(errorOf(await send({ port, body: 'x' }))).toBe('invalid_input')
    const response = await send({ port })
    expect(errorOf(response)).toBe('upstream_unavailable')
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
    const meta = await send({ port, path: metaPath, method: 'GET', body: '' })
    expect(errorOf(meta)).toBe('upstream_unavailable')
  })
})

describe('paths and methods', () => {
  it.each([
    '/',
    '/v1',
    `${checkPath}/`,
    `${checkPath}/batch/`,
    `/${checkPath}`,
    checkPath.toUpperCase(),
    checkPath.replace('check', '%63heck'),
    `/v1/./intelligence/ip-risk/check`,
    '/v2/intelligence/ip-risk/check',
    '/metrics',
    '/healthz',
    '/readyz',
  ])('404 for %s, whatever the method', async (path) => {
    expect(errorOf(await send({ path }))).toBe('not_found')
    expect(errorOf(await send({ path, method: 'GET', body: '' }))).toBe('not_found')
  })

  it.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'post', 'BREW'])(
    '405 for %s on the check',
    async (method) => {
      const response = await send({ method })
      expect(errorOf(response)).toBe('method_not_allowed')
      expect(response.headers['allow']).toBe('POST')
    },
  )

  it('405 for HEAD on the check, without a body', async () => {
    const response = await send({ method: 'HEAD', body: '' })
    expect(response).toMatchObject({ status: 405, body: '', headers: { allow: 'POST' } })
  })

  it.each([metaPath, '/openapi.json'])('405 for POST on %s', async (path) => {
    const response = await send({ path })
    expect(errorOf(response)).toBe('method_not_allowed')
    expect(response.headers['allow']).toBe('GET, HEAD')
  })

  it('HEAD is GET without the body', async () => {
    for (const path of [metaPath, '/openapi.json']) {
      const get = await send({ path, method: 'GET', body: '' })
      const head = await send({ path, method: 'HEAD', body: '' })
      expect(head).toMatchObject({ status: 200, body: '' })
      expect(head.headers['content-length']).toBe(get.headers['content-length'])
      expect(head.headers['content-type']).toBe('application/json')
    }
  })
})

describe('request ids', () => {
  const fit = ['a', 'A-Z_a.z-0_9.', '0'.repeat(64), '....']
  const unfit = [
    '',
    'a b',
    'a/b',
    'ä',
    'a\tb',
    '0'.repeat(65),
    '{}',
    'a"b',
    '\xff',
    'a,b',
    'a;b',
    'irk_a',
  ]

  it.each(fit)('%j is repeated, in answers and errors', async (id) => {
    const headers = [`X-Request-Id: ${id}`]
    const requests: readonly Request[] = [
      {},
      { body: 'x' },
      { key: 'x' },
      { path: '/' },
      { method: 'GET', body: '' },
      { path: '/openapi.json', method: 'GET', body: '' },
    ]
    for (const request of requests) {
      const response = await send({ ...request, headers })
      expect(response.headers['x-request-id']).toBe(id)
      const { error } = JSON.parse(response.body) as Partial<ErrorBody>
      expect(error?.request_id ?? id).toBe(id)
    }
  })

  it.each(unfit)('%j is replaced by our own', async (id) => {
    const response = await send({ headers: [`X-Request-Id: ${id}`] })
    expect(response.headers['x-request-id']).toMatch(/^[0-9a-f]{16}-[0-9a-z]+$/)
  })

  it('are never the same twice', async () => {
    const ids = new Set<string>()
    for (let i = 0; i < 20; i += 1) ids.add((await send({})).headers['x-request-id']!)
    expect(ids.size).toBe(20)
  })
})

describe('meta', () => {
  const get = (key: string): Promise<Response> =>
    send({ path: metaPath, method: 'GET', key, body: '' })

  it('says what answers, and what the key may do', async () => {
    const response = await get(keys['team']!)
    expect(response.status).toBe(200)
    const meta = JSON.parse(response.body)
    const library = openTable(table)
    expect(meta.table).toMatchObject({ id: library.id, as_of: '2026-08-22', bytes: library.bytes })
    expect(meta.feeds.map(({ id }: { id: string }) => id)).toEqual(
      library.sources.map(({ id }) => id),
    )
    for (const feed of meta.feeds) expect(feed.licence).not.toBe('')
    expect(meta.thresholds[0]).toEqual({
      risk_level: 'critical',
      risk_score_min: 90,
      risk_score_max: 100,
    })
    expect(meta.thresholds.at(-1)).toMatchObject({ risk_level: 'low', risk_score_max: 24 })
    expect(meta.values.classification).toContain('residential_proxy')
    expect(meta.key).toMatchObject({
      plan: 'team',
      apis: ['ip-risk'],
      insights: 'never',
      limits: { rate: { per_second: 50, burst: 100 }, quota: { per_month: 1_000_000 } },
    })
    expect(response.body).not.toContain(keys['team'])
    library.close()
  })

  it('has null for limits that do not exist', async () => {
    const meta = JSON.parse((await get(keys['good']!)).body)
    expect(meta.key.limits).toEqual({ rate: null, quota: null })
  })

  it('asks for a key, a plan and an API', async () => {
    expect(errorOf(await get(''))).toBe('invalid_api_key')
    expect(errorOf(await get(keys['free']!))).toBe('api_not_enabled_for_plan')
    expect(errorOf(await get(keys['noapi']!))).toBe('token_not_allowed_for_api')
  })
})

describe('the OpenAPI document', () => {
  it('needs no key and describes every route', async () => {
    const response = await send({ path: '/openapi.json', method: 'GET', key: '', body: '' })
    expect(response.status).toBe(200)
    const document = JSON.parse(response.body)
    expect(response.body).toBe(JSON.stringify(describedDocument()))
    expect(document.openapi).toBe('3.1.0')
    const lists = ['/lists/{name}', ...['', '/stream'].map((end) => `/v1/decisions${end}`)]
    const open = ['/openapi.json', '/docs', '/docs/errors']
    const feedbackPath = '/v1/intelligence/ip-risk/feedback'
    const checks = [checkPath, `${checkPath}/batch`, feedbackPath, metaPath]
    const all = [...checks, ...lists, '/v1/usage-metrics', ...open]
    expect(Object.keys(document.paths)).toEqual(all)
  })
})

describe('the log', () => {
  it('has neither an address nor a key of all of the above', () => {
    for (const text of [server.stderr(), bare.stderr()]) {
      expect(text).not.toMatch(/irk_[0-9A-Za-z]+_[0-9A-Za-z]{38}/)
      expect(text).not.toMatch(/9\.1\.2\.3|9\.5\.5\.5|2a01:4f8/i)
    }
  })
})
