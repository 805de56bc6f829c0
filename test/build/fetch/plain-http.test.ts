// The plainest of mirrors: HTTP/1.0, one request a connection, the body ends where the server hangs
// up. That is what `python3 -m http.server` does, and what once ended a build by an assertion
// inside the HTTP client (a parser paused for back-pressure when the end arrived).

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type AddressInfo, type Server, createServer } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { obtainSnapshots } from '../../../build/fetch/obtain-snapshots.ts'
import { type Day, parseDay } from '../../../src/base/day.ts'
import { newFolder } from '../../cli/program.ts'
import { inForm } from '../../form.ts'

let server: Server | undefined
afterEach(() => server?.close())

/** Up to 8 MB of lines, other ones for each path: the fault shows at some lengths only. */
function bodyOf(path: string): Buffer {
  const hash = createHash('sha256').update(path).digest()
  const line = hash.toString('hex')
  return Buffer.from(`${line}\n`.repeat(1000 + (hash.readUInt32LE(0) % 120_000)))
}

async function serve(withLength: boolean): Promise<string> {
  server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (head) => {
      const path = head.toString().split(' ')[1] ?? ''
      const known = path.startsWith('/feed-')
      const body = known ? bodyOf(path) : Buffer.from('no')
      const length = withLength ? `Content-Length: ${body.length}\r\n` : ''
      socket.write(`HTTP/1.0 ${known ? '200 OK' : '404 Not Found'}\r\n${length}\r\n`)
      socket.end(body)
    })
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function feed(id: string): Feed {
  const bytes = { min: 1, max: 1 << 23 }
  const url = 'http://example.com/list.txt'
  return {
    id,
    cadence: 'daily',
    files: [{ path: 'list.txt', role: 'use', url, format: 'list', bytes }],
  } as unknown as Feed
}

it.each([
  ['with a length', true],
  ['that ends where the server hangs up', false],
])('takes every byte of an HTTP/1.0 answer %s', async (_name, withLength) => {
  const url = await serve(withLength)
  const feeds = Array.from({ length: inForm({ short: 12, full: 30 }) }, (_, index) =>
    feed(`feed-${index}`),
  )
  const obtained = await obtainSnapshots({
    feeds,
    mode: { kind: 'mirror', url },
    folder: newFolder(),
    today: parseDay('2026-08-22') as Day,
  })
  expect(obtained.map(({ state, problem }) => problem ?? state)).toEqual(feeds.map(() => 'fresh'))
  for (const { feed, path } of obtained) {
    expect(readFileSync(path ?? '').equals(bodyOf(`/${feed.id}/list.txt`))).toBe(true)
  }
})
