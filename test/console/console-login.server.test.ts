// The console's login on a real server, and what must not get past it: a cookie alone, whatever
// is asked with it; pages of other origins, other ports of this host among them; other Hosts; roles.

import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, afterAll, expect, it } from 'vitest'
import { type Server, newState, startServer } from '../serve/server.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { type Ask, type ConsoleReply, adminClient, logIn, ownPage } from './console-client.ts'

const tokens = {
  admin: 'a'.repeat(32),
  analyst: 'b'.repeat(32),
  viewer: 'c'.repeat(32),
} as const

let server: Server
let ask: Ask
/** Every request that a login is for: each path with each method, its own or not. */
let requests: readonly { readonly method: string; readonly path: string; readonly role: string }[]

beforeAll(async () => {
  const folder = newState()
  const [admin, more] = [join(folder, 'token'), join(folder, 'tokens')]
  writeFileSync(admin, `${tokens.admin}\n`, { mode: 0o600 })
  const lines = [`viewer wall ${tokens.viewer}`, `analyst maria ${tokens.analyst}`]
  writeFileSync(more, lines.join('\n'), { mode: 0o600 })
  const args = ['--admin-token-file', admin, '--admin-tokens-file', more]
  server = await startServer({ table: writeSmallTable(), args })
  ask = adminClient(server.adminPort)
  const headers = { authorization: `Bearer ${tokens.viewer}` }
  const { value } = await ask('GET', '/admin/openapi.json', { headers })
  const routes = Object.entries(value.paths as Readonly<Record<string, object>>)
  const roleOf = (route: unknown): string => (route as Readonly<Record<string, string>>)['x-role']!
  requests = [
    ...routes.flatMap(([path, acts]) => {
      const byMethod = new Map(Object.entries(acts).map(([act, route]) => [act, roleOf(route)]))
      return ['GET', 'HEAD', 'POST', 'DELETE', 'PUT', 'OPTIONS'].map((method) => ({
        method,
        path: path.replace(/\{\w+\}/, 'none'),
        role: byMethod.get((method === 'HEAD' ? 'GET' : method).toLowerCase()) ?? '',
      }))
    }),
    ...['/admin/openapi.json', '/admin/none', '/status', '/metrics', '/console/session'].flatMap(
      (path) => ['GET', 'HEAD'].map((method) => ({ method, path, role: '' })),
    ),
    { method: 'POST', path: '/console/logout', role: '' },
  ]
}, 120_000)

afterAll(async () => {
  await server.stop('SIGKILL')
})

const errorOf = ({ status, value }: ConsoleReply): readonly [number, string] => [
  status,
  value.error.code as string,
]

it('lets only the page in after a login', async () => {
  const own = await logIn(ask, tokens.analyst)
  const session = await own.ask('GET', '/console/session')
  expect(session).toMatchObject({ status: 200, value: { role: 'analyst' } })
  expect(Date.parse(session.value.expires)).toBeGreaterThan(Date.now())
  const { cookie, csrf } = own
  const list = { body: { name: 'mine' } }
  const full = { ...ownPage, cookie, 'x-iprisk-csrf': csrf }
  const origin = `http://127.0.0.1:${server.adminPort}`
  const refused: readonly (readonly [object, number, string])[] = [
    [{ ...full, 'x-iprisk-csrf': '' }, 401, 'no_session'],
    [{ ...full, 'x-iprisk-csrf': `${csrf.slice(1)}x` }, 401, 'no_session'],
    [{ ...full, cookie: '' }, 401, 'no_session'],
    [{ ...full, cookie: cookie.slice(0, -1) }, 401, 'no_session'],
    [{ ...full, 'sec-fetch-site': 'cross-site' }, 403, 'foreign_page'],
    [{ ...full, 'sec-fetch-site': 'same-site' }, 403, 'foreign_page'],
    [{ cookie, 'x-iprisk-csrf': csrf, origin: 'http://127.0.0.1:1' }, 403, 'foreign_page'],
    [{ cookie, 'x-iprisk-csrf': csrf, origin: 'null' }, 403, 'foreign_page'],
  ]
  for (const [headers, status, code] of refused) {
    const reply = await ask('POST', '/admin/lists', { headers: { ...headers }, ...list })
    expect([headers, ...errorOf(reply)]).toEqual([headers, status, code])
  }
  const byOrigin = { cookie, 'x-iprisk-csrf': csrf, origin }
  expect((await ask('POST', '/admin/lists', { headers: byOrigin, ...list })).status).toBe(201)
  expect((await own.ask('DELETE', '/admin/lists/mine')).status).toBe(200)
  const out = await own.ask('POST', '/console/logout')
  expect([out.status, out.headers['set-cookie']]).toEqual([
    204,
    [expect.stringContaining('Max-Age=0')],
  ])
  expect(errorOf(await own.ask('GET', '/console/session'))).toEqual([401, 'no_session'])
})

it('opens nothing for the cookie alone, and answers as without a cookie', async () => {
  const own = await logIn(ask, tokens.admin)
  const { cookie, csrf } = own
  const refused = async (headers: Readonly<Record<string, string>>) => {
    const replies = requests.map(async ({ method, path }) => {
      const { status, text } = await ask(method, path, { headers, body: {} })
      return `${method} ${path} ${status} ${text.slice(0, 200)}`
    })
    return Promise.all(replies)
  }
  const none = await refused(ownPage)
  expect(none.length).toBeGreaterThan(150)
  expect(none.filter((reply) => !/^[A-Z]+ \S+ 401 (?:.*"no_session"|$)/.test(reply))).toEqual([])
  expect(await refused({ ...ownPage, cookie })).toEqual(none)
  expect(await refused({ ...ownPage, cookie, 'x-iprisk-csrf': 'x'.repeat(43) })).toEqual(none)
  expect(await refused({ ...ownPage, 'x-iprisk-csrf': csrf })).toEqual(none)
  // And what does not say that it is a browser.
  const plain = await refused({})
  expect(plain.filter((reply) => !/^[A-Z]+ \S+ 401 /.test(reply))).toEqual([])
  expect(await refused({ cookie })).toEqual(plain)
  // Not one of them has ended the session, and the login alone has said its text.
  const session = await own.ask('GET', '/console/session')
  expect([session.status, Object.keys(session.value as object)]).toEqual([200, ['role', 'expires']])
  expect((await own.ask('GET', '/admin/keys')).status).toBe(200)
})

it('opens nothing for pages of other origins and for other Hosts, reads included', async () => {
  const { cookie, csrf } = await logIn(ask, tokens.admin)
  const both = { cookie, 'x-iprisk-csrf': csrf }
  const foreign = [
    { ...both, 'sec-fetch-site': 'same-site' },
    { ...both, 'sec-fetch-site': 'cross-site' },
    { ...both, origin: 'http://127.0.0.1:1' },
    { ...both, origin: 'http://127.0.0.1' },
    // DNS rebinding: the right page of the wrong name.
    { ...both, ...ownPage, host: `evil.example:${server.adminPort}` },
  ]
  for (const headers of foreign) {
    const replies = requests.map(async ({ method, path }) => {
      const { status } = await ask(method, path, { headers, body: {} })
      return `${method} ${path} ${status}`
    })
    const opened = (await Promise.all(replies)).filter((reply) => !reply.endsWith(' 403'))
    expect([headers, opened]).toEqual([headers, []])
  }
  const rebound = { headers: { host: 'evil.example' } }
  expect((await ask('GET', '/console', rebound)).status).toBe(403)
})

it('checks the role of a session on every route as of a token, reads included', async () => {
  const ranks = ['viewer', 'analyst', 'admin']
  for (const role of ['viewer', 'analyst'] as const) {
    const own = await logIn(ask, tokens[role])
    const higher = requests.filter((one) => ranks.indexOf(one.role) > ranks.indexOf(role))
    expect(higher.map(({ method, path }) => `${method} ${path}`)).toEqual(
      expect.arrayContaining(['GET /admin/keys', 'HEAD /admin/keys', 'POST /admin/keys']),
    )
    for (const { method, path } of higher) {
      const { status, text } = await own.ask(method, path, { body: {} })
      expect([method, path, status]).toEqual([method, path, 403])
      // HEAD has no body.
      expect(text).toContain(method === 'HEAD' ? '' : 'forbidden_role')
    }
    expect((await own.ask('GET', '/admin/lists')).status).toBe(200)
    expect((await own.ask('HEAD', '/status')).status).toBe(200)
  }
})

it('keeps working for its page if another port of the host has set cookies', async () => {
  const { cookie, csrf } = await logIn(ask, tokens.viewer)
  const [name] = cookie.split('=')
  const other = await logIn(ask, tokens.admin)
  const tossed = `${name}=${'A'.repeat(43)}; ${other.cookie}; ${cookie}; ${name}=`
  const headers = { ...ownPage, cookie: tossed, 'x-iprisk-csrf': csrf }
  const session = await ask('GET', '/console/session', { headers })
  expect(session).toMatchObject({ status: 200, value: { role: 'viewer' } })
  expect((await ask('POST', '/console/logout', { headers })).status).toBe(204)
  expect((await other.ask('GET', '/console/session')).status).toBe(200)
})

it('separates the sessions of two consoles, and of one behind a proxy on another port', async () => {
  const proxy = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming
    const options = { host: '127.0.0.1', port: server.adminPort, method, path, headers }
    const sent = request(options, (reply) => {
      outgoing.writeHead(reply.statusCode!, reply.headers)
      reply.pipe(outgoing)
    })
    incoming.pipe(sent)
  })
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  try {
    const [one, two] = [
      await logIn(ask, tokens.viewer),
      await logIn(adminClient(port), tokens.admin),
    ]
    expect(one.cookie.split('=')[0]).not.toBe(two.cookie.split('=')[0])
    const headers = { cookie: `${one.cookie}; ${two.cookie}` }
    expect((await one.ask('GET', '/console/session', { headers })).value.role).toBe('viewer')
    expect((await two.ask('GET', '/console/session', { headers })).value.role).toBe('admin')
    // The text of one opens nothing at the other, although both cookies are there.
    const crossed = { headers: { ...headers, 'x-iprisk-csrf': two.csrf } }
    expect(errorOf(await one.ask('GET', '/console/session', crossed))).toEqual([401, 'no_session'])
  } finally {
    proxy.close()
    proxy.closeAllConnections()
  }
})

it('gives each login a new session, and limits logins', async () => {
  const fixed = `iprisk_console_${server.adminPort}=${'A'.repeat(43)}`
  const headers = { ...ownPage, cookie: fixed }
  const other = adminClient(server.adminPort, '127.0.0.2')
  const login = (token: unknown) => other('POST', '/console/login', { headers, body: { token } })
  const reply = await login(tokens.viewer)
  const [cookie = ''] = reply.headers['set-cookie'] as string[]
  expect(cookie).toMatch(/^iprisk_console_\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/)
  expect(cookie).not.toContain(fixed)
  expect(errorOf(await ask('GET', '/console/session', { headers }))).toEqual([401, 'no_session'])
  const foreign = { headers: { 'sec-fetch-site': 'cross-site' }, body: { token: tokens.admin } }
  expect(errorOf(await ask('POST', '/console/login', foreign))).toEqual([403, 'foreign_page'])
  expect(errorOf(await login('wrong'))).toEqual([401, 'wrong_token'])
  expect(errorOf(await login(7))).toEqual([401, 'wrong_token'])
  expect(errorOf(await login('x'.repeat(5000)))).toEqual([413, 'payload_too_large'])
  for (let tries = 0; tries < 20; tries += 1) {
    const last = await login('wrong')
    if (last.status !== 429) continue
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0)
    expect(server.stderr()).not.toContain(tokens.admin)
    return
  }
  throw new Error('twenty logins a minute were taken')
})

it('guards its page against frames, sniffing and scripts of others', async () => {
  const page = await ask('GET', '/console')
  expect(page.headers).toMatchObject({
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  })
  const policy = String(page.headers['content-security-policy'])
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain('unsafe')
  for (const path of [
    '/console/../package.json',
    '/console/%2e%2e/package.json',
    '/console/x.js',
  ]) {
    expect((await ask('GET', path)).status).toBe(404)
  }
  expect((await ask('POST', '/console')).status).toBe(405)
})
