// The reference below /docs on real sockets: what its files are sent with, that nothing else is
// there, that each error's doc_url leads to its paragraph, and that `--docs off` leaves nothing.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { once } from 'node:events'
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
} from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiErrorCodes, docUrl } from '../../../src/api/api-error.ts'
import { packageRoot, packageVersion } from '../../../src/base/package-root.ts'
import type { DocsRow } from '../../../src/http/docs-files.ts'
import { type Server, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { errorOf, sendTo } from '../api-client.ts'
import { type Response, converse } from '../raw-socket.ts'

// Of the compiled project, not of the sources.
const folder = pathToFileURL(join(packageRoot, 'dist/src/docs/'))

let server: Server
let rows: readonly DocsRow[] = []

beforeAll(async () => {
  rows = JSON.parse(readFileSync(new URL('list.json', folder), 'utf8')) as readonly DocsRow[]
  server = await startServer({ table: writeSmallTable() })
})
afterAll(() => server.stop())

const get = (path: string, headers: readonly string[] = [], method = 'GET'): Promise<Response> =>
  sendTo({ port: server.port, path, method, key: '', body: '', headers })

/** The body as it was sent. */
async function bytesOf(
  path: string,
  headers: OutgoingHttpHeaders,
): Promise<{ readonly headers: IncomingHttpHeaders; readonly body: Buffer }> {
  const asked = request({ port: server.port, path, headers, agent: false }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return { headers: answer.headers, body: await buffer(answer) }
}

const textOf = (file: string): string => readFileSync(new URL(file, folder), 'utf8')

it('are five files', () => {
  expect(rows.map(({ path }) => path.replace(/-[0-9a-f]{16}/, ''))).toEqual([
    '/docs/docs.css',
    '/docs/page.js',
    '/docs/try-it.js',
    '/docs',
    '/docs/errors',
  ])
  expect(readdirSync(folder)).toHaveLength(1 + 2 * rows.length)
})

describe('each file', () => {
  it('is sent whole to whoever asks, without a key', async () => {
    for (const { path, file, type } of rows) {
      const { status, headers, body } = await get(path)
      expect({ path, status }).toEqual({ path, status: 200 })
      expect(body).toBe(textOf(file))
      expect(headers).toMatchObject({
        'content-type': type,
        vary: 'accept-encoding',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
      expect(headers['x-request-id']).toMatch(/^[\w.-]+$/)
      expect(headers['content-encoding']).toBeUndefined()
      expect(headers['ratelimit']).toBeUndefined()
    }
  })

  it('is allowed nothing but itself, and no script in the page', async () => {
    for (const { path } of rows) {
      const policy = (await get(path)).headers['content-security-policy'] ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toMatch(/unsafe|\*|https?:/)
    }
  })

  it('is gzipped where that is taken', async () => {
    for (const { path, file, tag } of rows) {
      const { headers, body } = await bytesOf(path, { 'accept-encoding': 'br, gzip;q=0.8' })
      expect(headers['content-encoding']).toBe('gzip')
      expect(headers['etag']).toBe(`"${tag}-gz"`)
      expect(gunzipSync(body).toString()).toBe(textOf(file))
    }
    for (const coding of ['br', 'gzip;q=0', 'identity', 'xgzip', '*']) {
      const { headers } = await get('/docs', [`Accept-Encoding: ${coding}`])
      expect(headers['content-encoding']).toBeUndefined()
    }
  })

  it('is not sent again to whoever has it', async () => {
    for (const { path, file, tag, isConstant } of rows) {
      for (const known of [`"${tag}"`, `W/"${tag}"`, `"${tag}-gz"`, `"other", "${tag}"`, '*']) {
        const { status, headers, body } = await get(path, [`If-None-Match: ${known}`])
        expect({ known, status, body }).toEqual({ known, status: 304, body: '' })
        expect(headers['content-length']).toBe(String(Buffer.byteLength(textOf(file))))
        expect(headers['etag']).toBe(`"${tag}"`)
      }
      const { status, headers } = await get(path, ['If-None-Match: "0123456789abcdef"'])
      expect(status).toBe(200)
      // What has its hash in its name never changes; a page is asked for anew.
      expect(headers['cache-control']).toBe(
        isConstant ? 'public, max-age=31536000, immutable' : 'no-cache',
      )
    }
  })

  it('answers HEAD without a body, and 405 to other methods', async () => {
    for (const { path, file } of rows) {
      const { status, headers, body } = await get(path, [], 'HEAD')
      expect([status, body]).toEqual([200, ''])
      expect(headers['content-length']).toBe(String(Buffer.byteLength(textOf(file))))
      const refused = await get(path, [], 'POST')
      expect(errorOf(refused)).toBe('method_not_allowed')
      expect(refused.headers['allow']).toBe('GET, HEAD')
    }
  })

  it('ends its connection with a 304, and keeps it with a 200 if the request states its length', async () => {
    const [row] = rows
    const { path = '', tag = '' } = row ?? {}
    const head = (more: string): string =>
      `GET ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n${more}\r\n`
    const known = await converse(server.port, [head(`If-None-Match: "${tag}"\r\n`)])
    expect(known.closed).toBe(true)
    expect(known.text).toMatch(/^HTTP\/1\.1 304 Not Modified\r\n/)
    expect(known.text).toMatch(/\r\n\r\n$/)
    const twice = await converse(server.port, [head(''), head('')])
    expect(twice.closed).toBe(false)
    expect(twice.text.match(/^HTTP\/1\.1 200 OK\r$/gm)).toHaveLength(2)
  })

  it('is sent without a fault', () => {
    expect(server.stderr()).not.toMatch(/could not be written|"level":(?:50|60)/)
  })

  it('names nothing of this server but its version', () => {
    const all = rows.map(({ file }) => textOf(file)).join('')
    expect(all).toContain(packageVersion)
    expect(all).not.toContain(process.cwd())
    expect(all).not.toMatch(/\/(?:home|root|tmp|opt|work)\//)
  })
})

it('there is nothing else', async () => {
  const paths = ['/docs/', '/docs/errors/', '/docs/list.json', '/docs/docs.css', '/docs/%65rrors']
  for (const path of [...paths, '/docs/..', '/docs/../openapi.json', '/docsx']) {
    expect(errorOf(await get(path))).toBe('not_found')
  }
})

it.each(apiErrorCodes)('the doc_url of %s leads to its paragraph', async (code) => {
  const { pathname, hash } = new URL(docUrl(code), `http://127.0.0.1:${server.port}`)
  const { status, body } = await get(pathname)
  expect(status).toBe(200)
  expect(body).toContain(` id="${hash.slice(1)}"`)
})

it('is not there with --docs off', async () => {
  const without = await startServer({ table: writeSmallTable(), args: ['--docs', 'off'] })
  for (const { path } of rows) {
    const response = await sendTo({ port: without.port, path, method: 'GET', key: '', body: '' })
    expect(errorOf(response)).toBe('not_found')
  }
  await without.stop()
})
