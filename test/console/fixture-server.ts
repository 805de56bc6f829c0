// A small server in the place of the admin port, for tests of the console's page: sends
// dist/console with the guards of the real one, and answers with fixture-views.ts. It keeps lists,
// policies, keys and what was done as long as it lives. Logins: the tokens `viewer`, `analyst` and
// `admin`.

import { readFileSync, readdirSync } from 'node:fs'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packageRoot } from '../../src/base/package-root.ts'
import type { ConsoleLogin } from '../../src/api/admin-answers.ts'
import type { AdminRole } from '../../src/model/roles.ts'
import { type Fixture, fixtureRoutes, newFixture } from './fixture-routes.ts'

export interface FixtureServer {
  readonly url: string
  readonly fixture: Fixture
  readonly stop: () => Promise<void>
}

const folder = join(packageRoot, 'dist/console')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
}

const guards = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; font-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** By name, compressed; once for all servers of a process. */
let compressed: ReadonlyMap<string, Buffer> | undefined

function compressedFiles(): ReadonlyMap<string, Buffer> {
  compressed ??= new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => types[extname(name)] !== undefined)
      .map((name) => [name, gzipSync(readFileSync(join(folder, name)))] as const),
  )
  return compressed
}

export async function startFixtureServer(): Promise<FixtureServer> {
  const fixture = newFixture()
  const files = compressedFiles()
  const server = createServer((request, response) => {
    void answer(fixture, files, request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/console`,
    fixture,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(
  fixture: Fixture,
  files: ReadonlyMap<string, Buffer>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://fixture')
  const name = url.pathname.replace(/^\/console\/?/, '')
  const file = url.pathname.startsWith('/console') ? files.get(name || 'index.html') : undefined
  if (request.method === 'GET' && file !== undefined) {
    const type = types[extname(name || 'index.html')]!
    response.writeHead(200, { ...guards, 'content-type': type, 'content-encoding': 'gzip' })
    response.end(file)
    return
  }
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const body = (text === '' ? {} : JSON.parse(text)) as Readonly<Record<string, unknown>>
  const act = `${request.method} ${url.pathname}`
  const role = roleOf(request)
  if (act === 'POST /console/login') return logIn(fixture, body, response)
  if (role === undefined || request.headers['x-iprisk-csrf'] !== csrf) {
    return failed(response, 401, 'no_session', 'The session has ended.')
  }
  if (act === 'GET /console/session') return sent(response, 200, { role, expires })
  if (act === 'POST /console/logout') {
    response.setHeader('set-cookie', 'iprisk_console=; Path=/; Max-Age=0')
    return sent(response, 204, undefined)
  }
  fixture.acts.push(act)
  const { status, value } = fixtureRoutes(fixture, { act, query: url.searchParams, body, role })
  sent(response, status, value)
}

function logIn(
  fixture: Fixture,
  { token, link }: Readonly<Record<string, unknown>>,
  response: ServerResponse,
): void {
  const roles = ['viewer', 'analyst', 'admin'] as const
  const isLink = link === 'right-link' && fixture.acts.push('link redeemed') > 0
  const isFirst = fixture.acts.filter((act) => act === 'link redeemed').length === 1
  const role = isLink && isFirst ? 'admin' : roles.find((one) => one === token)
  if (role === undefined && link !== undefined) {
    return failed(response, 401, 'link_spent', 'This link was used already.')
  }
  if (role === undefined) return failed(response, 401, 'wrong_token', 'The token is wrong.')
  response.setHeader('set-cookie', `iprisk_console=${role}; HttpOnly; SameSite=Strict; Path=/`)
  sent(response, 200, { role, csrf, expires } satisfies ConsoleLogin)
}

const csrf = 'csrf-of-the-fixture'
const expires = '2026-11-23T16:00:00Z'

function roleOf({ headers: { cookie = '' } }: IncomingMessage): AdminRole | undefined {
  return (['viewer', 'analyst', 'admin'] as const).find((role) =>
    cookie.includes(`iprisk_console=${role}`),
  )
}

function sent(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { ...guards, 'content-type': 'application/json' })
  response.end(value === undefined ? undefined : JSON.stringify(value))
}

function failed(response: ServerResponse, status: number, code: string, message: string): void {
  sent(response, status, { error: { code, message } })
}
