// The framing matrix against the server alone and behind the two proxies as deploy/ ships them. What
// was served is the server's own word: its log has a line for each request that it answered.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeSmallTable } from '../table/small.ts'
import { type Server, makeKey, newState, startServer, waitFor } from '../server/server.ts'
import { converse } from '../server/socket.ts'
import { framingCases, wordsOf } from './cases.ts'
import { runMatrix } from './matrix.ts'
import { type Proxy, isInstalled, proxyNames, startProxy } from './proxy.ts'

let server: Server
let key = ''

beforeAll(async () => {
  server = await startServer({ table: writeSmallTable(), args: ['--log-level', 'debug'] })
  key = await makeKey(server.state)
  await waitFor(async () => {
    const heard = await converse(server.port, [wordsOf(key, 'first').honest])
    return heard.text.startsWith('HTTP/1.1 200') ? true : undefined
  })
})

afterAll(async () => {
  await server.stop()
})

const log = (): string => server.stderr()

it('has the cases that the issue asks for', () => {
  expect(framingCases.length).toBeGreaterThan(200)
  expect(new Set(framingCases.map(({ name }) => name)).size).toBe(framingCases.length)
})

describe('the server alone', () => {
  it('serves nothing that was not sent', async () => {
    const { served, strangers } = await runMatrix({ port: server.port, key, run: 'alone', log })
    expect(strangers).toEqual([])
    expect(served.filter(({ honest }) => honest > 1)).toEqual([])
    const mayBe = { closed: 0, open: 1, gap: 1 } as const
    expect(served.filter(({ kind, smuggled }) => smuggled > mayBe[kind])).toEqual([])
    // A gap that is closed is one to strike from docs/hostile.md.
    expect(served.filter(({ kind, smuggled }) => kind === 'gap' && smuggled === 0)).toEqual([])
    expect(await server.metric('iprisk_worker_restarts_total')).toBe(0)
    expect(await server.metric('iprisk_framing_refusals_total')).toBeGreaterThan(50)
    expect(await server.metric('iprisk_requests_total', '500')).toBe(0)
  }, 60_000)

  it('would be seen serving a second request', async () => {
    const { honest, smuggled } = wordsOf(key, 'seen')
    await converse(server.port, [honest + smuggled])
    const seen = await waitFor(() => (log().includes('seen-smuggled') ? true : undefined))
    expect(seen).toBe(true)
  })
})

describe.each(proxyNames)('behind %s', (name) => {
  let proxy: Proxy

  beforeAll(async () => {
    if (!isInstalled(name)) return
    const { port, adminPort } = server
    proxy = await startProxy(name, { port, adminPort, folder: newState() })
  })
  afterAll(async () => {
    if (isInstalled(name)) await proxy.stop()
  })

  it.skipIf(!isInstalled(name))(
    'the server serves what the proxy saw, and no more',
    async () => {
      const { answered, served } = await runMatrix({ port: proxy.port, key, run: name, log })
      expect(served.filter(({ honest, smuggled }) => honest > 1 || smuggled > 1)).toEqual([])
      expect(served.filter(({ kind, smuggled }) => kind === 'gap' && smuggled > 0)).toEqual([])
      const forwarded = await waitFor(() => {
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
})
