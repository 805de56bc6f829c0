// One GET against real servers that behave and that do not. Every failure must leave no file.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { openNetworkHealth } from '../../../build/fetch/network-health.ts'
import type { GetAnswer, GetRequest } from '../../../build/fetch/http-get.ts'
import { httpGet, redirectTarget } from '../../../build/fetch/http-get.ts'
import type { FetchLimits } from '../../../build/fetch/fetch-limits.ts'
import { redirectsMax } from '../../../src/ip/outbound-policy.ts'
import type { ConnectionPools } from '../../../build/fetch/connection-pools.ts'
import { openConnectionPools } from '../../../build/fetch/connection-pools.ts'
import type { Handler } from './site.ts'
import { closedPort, newFolder, openSite, quickLimits, text } from './site.ts'

const list = '192.0.2.1\n192.0.2.2\n'
const open: ConnectionPools[] = []

afterEach(async () => {
  for (const network of open.splice(0)) await network.close()
})

function newNetwork(limits: Partial<FetchLimits> = {}): ConnectionPools {
  const network = openConnectionPools({
    limits: { ...quickLimits, ...limits },
    health: openNetworkHealth({ hosts: 1, deadHosts: 1 }),
  })
  open.push(network)
  return network
}

async function fetchFrom(
  url: string,
  more: Partial<GetRequest> & { readonly limits?: Partial<FetchLimits> } = {},
): Promise<{ readonly answer: GetAnswer; readonly to: string; readonly ms: number }> {
  const { limits, ...rest } = more
  const to = join(newFolder(), 'file.tmp')
  const request = { to, format: 'list', bytes: { min: 1, max: 100_000 }, ...rest }
  const started = performance.now()
  const answer = await httpGet(newNetwork(limits), { ...request, url: new URL(url) })
  return { answer, to, ms: performance.now() - started }
}

/** The error of a fetch that failed; no file may be left. */
async function failure(
  url: string,
  more: Parameters<typeof fetchFrom>[1] = {},
): Promise<{ readonly code: string; readonly message: string; readonly ms: number }> {
  const { answer, to, ms } = await fetchFrom(url, more)
  expect(existsSync(to), 'a file was left').toBe(false)
  if (answer.kind !== 'failed') throw new Error(`it did not fail: ${JSON.stringify(answer)}`)
  return { code: answer.error.code, message: answer.error.message, ms }
}

describe('get', () => {
  it('stores the bytes, hashed, and says who asks', async () => {
    const site = await openSite({ '/a': text(list, { etag: '"1"' }) })
    const { answer, to } = await fetchFrom(`${site.url}/a`)
    const sha256 = createHash('sha256').update(list).digest('hex')
    const bytes = list.length
    expect(answer).toEqual({ kind: 'fresh', sha256, bytes, validators: { etag: '"1"' } })
    expect(readFileSync(to, 'utf8')).toBe(list)
    expect(site.requests[0]?.headers['user-agent']).toMatch(/^iprisk\/\d+\.\d+\.\d+ \(IP risk/)
  })

  it('revalidates, and takes 304 for an answer only where it asked', async () => {
    const site = await openSite({
      '/a': (request, response) => {
        expect(request.headers['if-none-match']).toBe('"1"')
        expect(request.headers['if-modified-since']).toBe('Sat, 22 Aug 2026 00:00:00 GMT')
        response.writeHead(304, { etag: '"1"' }).end()
      },
      '/b': (_request, response) => response.writeHead(304).end(),
    })
    const validators = { etag: '"1"', lastModified: 'Sat, 22 Aug 2026 00:00:00 GMT' }
    const { answer, to } = await fetchFrom(`${site.url}/a`, { validators })
    expect(answer).toEqual({ kind: 'unchanged', validators })
    expect(existsSync(to)).toBe(false)
    expect((await failure(`${site.url}/b`)).code).toBe('fetch_status')
  })

  it.each([
    ['gzip', gzipSync(list)],
    ['x-gzip', gzipSync(list)],
    ['br', brotliCompressSync(list)],
    ['deflate', deflateSync(list)],
    ['deflate', deflateRawSync(list)],
    ['identity', Buffer.from(list)],
  ])('decodes %s', async (encoding, body) => {
    const site = await openSite({ '/a': text(body, { 'content-encoding': encoding }) })
    const { answer, to } = await fetchFrom(`${site.url}/a`)
    expect(answer).toMatchObject({ kind: 'fresh', bytes: list.length })
    expect(readFileSync(to, 'utf8')).toBe(list)
  })

  it.each([
    ['gzip', gzipSync(Buffer.alloc(50_000_000, '1'))],
    ['br', brotliCompressSync(Buffer.alloc(50_000_000, '1'))],
    ['deflate', deflateSync(Buffer.alloc(50_000_000, '1'))],
  ])('stops a bomb of %s', async (encoding, body) => {
    expect(body.length).toBeLessThan(100_000)
    const site = await openSite({ '/a': text(body, { 'content-encoding': encoding }) })
    expect((await failure(`${site.url}/a`)).code).toBe('fetch_too_large')
    expect(site.count('/a')).toBe(1)
  })

  it('stops compressed bytes that decode to nothing and never end', async () => {
    // Stored deflate blocks of length 0, behind a gzip header.
    const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
    const empty = Buffer.alloc(50_000, Buffer.from([0, 0, 0, 0xff, 0xff]))
    const site = await openSite({
      '/a': (_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' })
        response.write(header)
        for (let i = 0; i < 40; i++) response.write(empty)
      },
    })
    expect((await failure(`${site.url}/a`)).code).toBe('fetch_too_large')
  })

  it('refuses encodings that it did not ask for', async () => {
    const site = await openSite({ '/a': text(list, { 'content-encoding': 'zstd' }) })
    expect(await failure(`${site.url}/a`)).toMatchObject({ code: 'fetch_encoding' })
  })

  it('retries damaged compression and gives up', async () => {
    const cut = gzipSync(list.repeat(100)).subarray(0, 30)
    const site = await openSite({ '/a': text(cut, { 'content-encoding': 'gzip' }) })
    const { code, message } = await failure(`${site.url}/a`)
    expect(code).toBe('fetch_truncated')
    expect(message).toContain('after 3 tries')
    expect(site.count('/a')).toBe(3)
  })

  it('bounds the size from above, announced or not, and from below', async () => {
    const handlers: Record<string, Handler> = {
      '/endless': (_request, response) => {
        const more = (): void => {
          while (!response.destroyed && response.write('192.0.2.1\n'.repeat(1000)));
        }
        response.on('drain', more)
        more()
      },
      '/announced': (_request, response) => {
        response.writeHead(200, { 'content-length': '1000000000' })
        response.write('1')
      },
      '/small': text('1\n'),
      '/empty': text(''),
    }
    const site = await openSite(handlers)
    expect((await failure(`${site.url}/endless`)).code).toBe('fetch_too_large')
    expect((await failure(`${site.url}/announced`)).code).toBe('fetch_too_large')
    const bytes = { min: 100, max: 1000 }
    const small = await failure(`${site.url}/small`, { bytes })
    expect(small.code).toBe('fetch_too_small')
    expect(small.message).toContain('only 2 bytes')
    expect((await failure(`${site.url}/empty`)).code).toBe('fetch_too_small')
    expect(site.count('/small')).toBe(1)
  })

  it('takes a body of exactly the bounds', async () => {
    const site = await openSite({ '/a': text(list) })
    for (const bytes of [
      { min: list.length, max: 1000 },
      { min: 1, max: list.length },
    ]) {
      expect((await fetchFrom(`${site.url}/a`, { bytes })).answer.kind).toBe('fresh')
    }
    const bytes = { min: 1, max: list.length - 1 }
    expect((await failure(`${site.url}/a`, { bytes })).code).toBe('fetch_too_large')
  })

  it('notices a body that is shorter than announced', async () => {
    const site = await openSite({
      '/a': (_request, response) => {
        response.writeHead(200, { 'content-length': '1000' })
        response.write(list)
        setTimeout(() => response.destroy(), 20)
      },
    })
    const { code } = await failure(`${site.url}/a`)
    expect(['fetch_truncated', 'fetch_interrupted']).toContain(code)
    expect(site.count('/a')).toBe(3)
  })

  it('does not wait for headers, for silence or for a drip', async () => {
    const site = await openSite({
      '/headers': () => undefined,
      '/silence': (_request, response) => {
        response.writeHead(200)
        response.write(list)
      },
      '/drip': (_request, response) => {
        response.writeHead(200)
        const timer = setInterval(() => response.write('1\n'), 50)
        response.on('close', () => clearInterval(timer))
      },
    })
    const limits = { attempts: 2 }
    for (const path of ['/headers', '/silence', '/drip']) {
      const { code, ms } = await failure(`${site.url}${path}`, { limits })
      expect(code).toBe('fetch_timeout')
      expect(ms).toBeLessThan(2 * quickLimits.wholeMs + 2500)
      expect(site.count(path)).toBe(2)
    }
  })

  it('retries what can pass: a 500, then an answer', async () => {
    const site = await openSite()
    site.handlers.set('/a', (request, response) => {
      if (site.count('/a') < 3) response.writeHead(500).end()
      else text(list)(request, response)
    })
    expect((await fetchFrom(`${site.url}/a`)).answer.kind).toBe('fresh')
    expect(site.count('/a')).toBe(3)
  })

  it.each([401, 403, 404, 410, 204, 206, 501])('does not retry status %i', async (status) => {
    const site = await openSite({ '/a': (_request, response) => response.writeHead(status).end() })
    const { code, message } = await failure(`${site.url}/a`)
    expect(code).toBe(status === 404 || status === 410 ? 'fetch_gone' : 'fetch_status')
    expect(message).toContain(`${site.url}/a: status ${status}`)
    expect(site.count('/a')).toBe(1)
  })

  it('honours Retry-After, within its patience', async () => {
    const site = await openSite()
    const limited =
      (path: string, after: () => string): Handler =>
      (request, response) => {
        if (site.count(path) > 1) text(list)(request, response)
        else response.writeHead(429, { 'retry-after': after() }).end()
      }
    site.handlers.set(
      '/seconds',
      limited('/seconds', () => '1'),
    )
    const soon = (): string => new Date(Date.now() + 2000).toUTCString()
    site.handlers.set('/date', limited('/date', soon))
    site.handlers.set(
      '/long',
      limited('/long', () => '3600'),
    )
    const seconds = await fetchFrom(`${site.url}/seconds`)
    expect(seconds.answer.kind).toBe('fresh')
    expect(seconds.ms).toBeGreaterThan(990)
    const date = await fetchFrom(`${site.url}/date`)
    expect(date.answer.kind).toBe('fresh')
    expect(date.ms).toBeGreaterThan(900)
    const long = await failure(`${site.url}/long`)
    expect(long.message).toContain('3600 s')
    expect(long.ms).toBeLessThan(500)
    expect(site.count('/long')).toBe(1)
  })

  it.each([
    ['<!DOCTYPE html><html>', 'text/plain'],
    ['\ufeff \r\n<HTML><head>', 'text/plain'],
    ['<?xml version="1.0"?><Error>', 'application/xml'],
    ['<div>Sign in</div>', 'text/html; charset=utf-8'],
  ])('refuses the page %j as %s', async (page, type) => {
    const site = await openSite({
      '/a': text(page, { 'content-type': type }),
      // In single bytes: the sign is not in the first chunk.
      '/drip': (_request, response) => {
        response.writeHead(200, { 'content-type': type })
        const bytes = [...Buffer.from(page)]
        const timer = setInterval(() => {
          const byte = bytes.shift()
          if (byte !== undefined) response.write(Buffer.from([byte]))
          else response.end()
        }, 1)
        response.on('close', () => clearInterval(timer))
      },
    })
    expect((await failure(`${site.url}/a`)).code).toBe('fetch_html')
    expect((await failure(`${site.url}/drip`)).code).toBe('fetch_html')
  })

  it('takes a list that is only called a page', async () => {
    const site = await openSite({ '/a': text(list, { 'content-type': 'text/html' }) })
    expect((await fetchFrom(`${site.url}/a`)).answer.kind).toBe('fresh')
  })

  it('counts a host that cannot be reached, and does not try it again', async () => {
    const port = await closedPort()
    const network = newNetwork()
    const to = join(newFolder(), 'file.tmp')
    const request = {
      url: new URL(`http://127.0.0.1:${port}/a`),
      to,
      format: 'list',
      bytes: { min: 1, max: 9 },
    }
    const first = await httpGet(network, request)
    expect(first).toMatchObject({ kind: 'failed', error: { code: 'fetch_unreachable' } })
    expect(network.health.signal.aborted).toBe(true)
    const second = await httpGet(network, request)
    const message = second.kind === 'failed' ? second.error.message : ''
    expect(message).toContain('not tried again')
  })

  it('retries a server that hangs up, and speaks of no TLS where there is none', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections++
      socket.on('error', () => undefined)
      socket.end('this is not HTTP\r\n\r\n')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const plain = await failure(`http://127.0.0.1:${port}/`)
    expect(plain.code).toBe('fetch_interrupted')
    expect(connections).toBe(3)
    const tls = await failure(`https://127.0.0.1:${port}/`)
    expect(tls.code).toBe('fetch_tls')
    server.close()
  })
})

describe('credentials', () => {
  it('go to their own origin only, and into no message', async () => {
    const other = await openSite({ '/a': (_request, response) => response.writeHead(403).end() })
    const site = await openSite({
      '/a?token=hush': (_request, response) =>
        response.writeHead(302, { location: `${other.url}/a` }).end(),
    })
    const url = `http://me:secret@127.0.0.1:${site.port}/a?token=hush`
    const { message } = await failure(url)
    expect(message).not.toMatch(/secret|hush|me:/)
    const expected = `Basic ${Buffer.from('me:secret').toString('base64')}`
    expect(site.requests[0]?.headers.authorization).toBe(expected)
    expect(other.requests[0]?.headers.authorization).toBeUndefined()
  })
})

describe('redirects', () => {
  it('are followed up to five, on the loopback from the loopback', async () => {
    const site = await openSite({ '/0': text(list) })
    for (let hop = 1; hop <= 6; hop++) {
      site.handlers.set(`/${hop}`, (_request, response) =>
        response.writeHead(hop % 2 === 0 ? 301 : 307, { location: `/${hop - 1}` }).end(),
      )
    }
    expect((await fetchFrom(`${site.url}/5`)).answer.kind).toBe('fresh')
    expect((await failure(`${site.url}/6`)).code).toBe('fetch_redirect')
  })

  it('may not circle, lead nowhere or leave the web', async () => {
    const to =
      (location?: string): Handler =>
      (_request, response) => {
        response.writeHead(302, location === undefined ? {} : { location }).end()
      }
    const site = await openSite({
      '/circle': to('/circle'),
      '/nowhere': to(),
      '/file': to('file:///etc/passwd'),
      '/bad': to('http://['),
    })
    for (const path of ['/circle', '/nowhere', '/bad']) {
      expect((await failure(site.url + path)).code).toBe('fetch_redirect')
    }
    expect((await failure(`${site.url}/file`)).code).toBe('fetch_url')
    expect(site.count('/circle')).toBe(redirectsMax + 1)
  })

  it('never lead from https to http', () => {
    const from = new URL('https://a.example/x')
    expect(() => redirectTarget(from, 'http://a.example/x')).toThrow(/https to http:\/\/a/)
    expect(redirectTarget(from, '/y').href).toBe('https://a.example/y')
    expect(redirectTarget(new URL('http://a.example/'), 'https://a.example/').protocol).toBe(
      'https:',
    )
  })
})
