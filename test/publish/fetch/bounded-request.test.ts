// A server on the way that wastes time or bytes, or leads elsewhere: each request ends by itself.

import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { boundedRequest, requestBounds } from '../../../src/publish/fetch/bounded-request.ts'

let answer: (response: ServerResponse, path: string) => void
const web = createServer((request, response) => answer(response, request.url ?? ''))
let origin = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
})
afterAll(() => {
  web.closeAllConnections()
  web.close()
})

const never = 600_000
const ask = (bounds = {}) =>
  boundedRequest({
    url: new URL(`${origin}/a`),
    bytesMax: 100_000,
    bounds: { connectMs: never, idleMs: never, wholeMs: never, ...bounds },
  })

function trickle(response: ServerResponse): void {
  const timer = setInterval(() => response.write('x'), 10)
  response.on('close', () => clearInterval(timer))
}

const wrong: readonly (readonly [
  claim: string,
  bounds: object,
  code: string,
  act: (response: ServerResponse, path: string) => void,
])[] = [
  ['bytes that come one by one', { wholeMs: 300 }, 'pull_slow', trickle],
  ['no answer', { idleMs: 300 }, 'pull_slow', () => undefined],
  ['an answer that stalls', { idleMs: 300 }, 'pull_slow', (of) => void of.write('x')],
  [
    'a body that never ends',
    {},
    'pull_size',
    (of) => {
      const chunk = Buffer.alloc(65_536)
      const go = (): void => {
        if (!of.destroyed) of.write(chunk, go)
      }
      go()
    },
  ],
  [
    'a length that is too much',
    {},
    'pull_size',
    (of) => of.writeHead(200, { 'content-length': 100_001 }).flushHeaders(),
  ],
  [
    'redirects without an end',
    {},
    'pull_redirect',
    (of, path) => void of.writeHead(302, { location: `${path}a` }).end(),
  ],
  [
    'a redirect to a private address',
    {},
    'pull_redirect',
    (of) => void of.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  ],
]

it.each(wrong)('%s: the request ends', async (_claim, bounds, code, act) => {
  answer = act
  await expect(ask(bounds)).rejects.toMatchObject({ code })
})

it('takes an answer of exactly as many bytes as it may have', async () => {
  answer = (of) => void of.end(Buffer.alloc(100_000))
  expect((await ask()).body).toHaveLength(100_000)
  answer = (of) => void of.end(Buffer.alloc(100_001))
  await expect(ask()).rejects.toMatchObject({ code: 'pull_size' })
})

it('has bounds that a slow line keeps', async () => {
  answer = (of) => void of.end('content')
  expect((await ask(requestBounds)).body.toString()).toBe('content')
  expect(requestBounds).toEqual({ connectMs: 5000, idleMs: 10_000, wholeMs: 60_000 })
})
