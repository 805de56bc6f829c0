// The framing matrix behind the two proxies as deploy/ ships them. What was served is the server's
// own word: its log has a line for each request that it answered. The server alone:
// framing.server.test.ts.

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Server, makeKey, newState } from '../serve/server.ts'
import { converse } from '../http/raw-socket.ts'
import { paths } from '../../src/api/public-port.ts'
import { wordsOf } from './framing-cases.ts'
import { runMatrix, startLoggingServer } from './framing-matrix.ts'
import { type Proxy, isWanted, proxyNames, startProxy } from './proxies.ts'
import { eventually } from '../eventually.ts'

let server: Server
let key = ''

beforeAll(async () => {
  ;({ server, key } = await startLoggingServer())
})

afterAll(async () => {
  await server.stop()
})

const log = (): string => server.stderr()

describe.each(proxyNames)('behind %s', (name) => {
  let proxy: Proxy

  beforeAll(async () => {
    if (!isWanted(name)) return
    const { port, adminPort } = server
    proxy = await startProxy(name, { port, adminPort, folder: newState() })
  })
  afterAll(async () => {
    if (isWanted(name)) await proxy.stop()
  })

  it.skipIf(!isWanted(name))('a key is no id of a request, in no log', async () => {
    const ask = (id: string): string => {
      const head = `POST /v1/intelligence/ip-risk/check HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}`
      return `${head}\r\nAuthorization: Bearer ${key}\r\nContent-Length: 16\r\n\r\n{"ip":"9.1.2.3"}`
    }
    const mistaken = await makeKey(server.state)
    const secret = mistaken.slice(17, 49)
    const forms = [mistaken, mistaken.toUpperCase(), mistaken.slice(4), mistaken.slice(17), secret]
    const known = [`${name}-known`, '4BF92F3577B34DA6A3CE929D0E0E4736', randomUUID()]
    const ids = [...known, ...forms, `${name}-after`]
    const { text } = await converse(proxy.port, ids.map(ask))
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(ids.length)
    const logged = await eventually(() => {
      const ids = [...proxy.forwarded().keys()]
      return ids.includes(`${name}-after`) ? ids : undefined
    })
    expect(logged).toEqual(expect.arrayContaining(known))
    for (const place of [text, logged.join(' '), log()]) {
      expect(place.toLowerCase()).not.toContain(secret.toLowerCase())
    }
  })

  it.skipIf(!isWanted(name))(
    'the server serves what the proxy saw, and no more',
    async () => {
      const { answered, served } = await runMatrix({ port: proxy.port, key, run: name, log })
      expect(served.filter(({ honest, smuggled }) => honest > 1 || smuggled > 1)).toEqual([])
      expect(served.filter(({ kind, smuggled }) => kind === 'gap' && smuggled > 0)).toEqual([])
      const forwarded = await eventually(() => {
        const seen = proxy.forwarded()
        return (seen.get(`${name}last-honest`) ?? 0) > 0 ? seen : undefined
      })
      const smuggled = [...answered].filter(([id, count]) => count > (forwarded.get(id) ?? 0))
      expect(smuggled).toEqual([])
      // Both speak with each other, or nothing of this means anything.
      expect(served.filter(({ honest }) => honest === 1).length).toBeGreaterThan(30)
    },
    60_000,
  )

  it.skipIf(!isWanted(name))(
    'a line of HTTP/0.9, which has no key and no end, is refused',
    async () => {
      const { text, closed } = await converse(proxy.port, [`GET ${paths.meta}\r\n`])
      expect([text.slice(0, 12), closed]).toEqual([name === 'nginx' ? '' : 'HTTP/1.1 400', true])
    },
  )

  it.skipIf(!isWanted(name))('of two keys none is chosen', async () => {
    const { head } = wordsOf(key, `${name}-keys`)
    const second = `Authorization: Bearer ${await makeKey(server.state)}\r\n`
    const { text } = await converse(proxy.port, [`${head}${second}Content-Length: 2\r\n\r\n{}`])
    expect(text.slice(0, 12)).toBe('HTTP/1.1 400')
  })

  it.skipIf(!isWanted(name)).each([
    ['3 KB of headers', { target: 0, lines: 30 }, 200],
    ['4.5 KB of headers', { target: 0, lines: 45 }, 400],
    ['4.5 KB, 1.9 of them the target', { target: 1900, lines: 26 }, 414],
  ])('%s: the server gets none that it would not take', async (what, { target, lines }, status) => {
    const { honest } = wordsOf(key, `${name}-large-${lines}`)
    const large = honest
      .replace(' HTTP/1.1', target === 0 ? ' HTTP/1.1' : `?${'a'.repeat(target)} HTTP/1.1`)
      .replace('Host', `${`X-Filling: ${'a'.repeat(87)}\r\n`.repeat(lines)}Host`)
    expect(large.length).toBeGreaterThan(Number.parseFloat(what) * 1000)
    const { text } = await converse(proxy.port, [large])
    expect(text.slice(0, 12)).toBe(`HTTP/1.1 ${status}`)
  })
})
