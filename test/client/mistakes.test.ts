// The five mistakes that were made when a login was protected by hand, each as a request to an
// application behind the middleware, with the real client.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { guarded, iprisk } from '../../src/client/middleware/connect-middleware.ts'
import { createRequestGuard } from '../../src/client/middleware/request-guard.ts'
import { createClient } from '../../src/client/node-client.ts'
import { createFakeClient } from '../../src/client/testing/fake-client.ts'
import { type Act, answerFor, answering, decided, errorOf, standIn } from './stand-in.ts'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
  vi.restoreAllMocks()
})

/** An application on loopback behind one proxy, and a server that acts. */
async function application(act: Act) {
  const server = await standIn(act)
  const client = createClient({ url: server.url, key: 'irk_k', cacheMs: 0, timeoutMs: 5000 })
  const options = { client, policy: 'login', trust: 'loopback' }
  const app = createServer(guarded(options, (_request, response) => response.end('in')))
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    client.close()
    app.close()
    app.closeAllConnections()
  })
  const { port } = app.address() as AddressInfo
  const login = async (headers: Readonly<Record<string, string>>): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${port}/login`, { headers })
    await response.text()
    return response.status
  }
  return { server, client, login }
}

const blocking: Act = ({ body }) => ({
  status: 200,
  body: { ...answerFor(String(body['ip'])), decision: decided('block') },
})

describe('the mistakes of protecting a login by hand', () => {
  it('a port in X-Forwarded-For: the address is judged, not let in as if iprisk were down', async () => {
    const { server, client, login } = await application(blocking)
    expect(await login({ 'x-forwarded-for': '203.0.113.7:4711' })).toBe(403)
    expect(server.asked[0]?.body).toEqual({ ip: '203.0.113.7', policy: 'login' })
    expect(client.counts()).toMatchObject({ checked: 1, unavailable: 0, invalid_address: 0 })
  })

  it('a wrong key: logins go on, and it is said and counted', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const { client, login } = await application(() => ({
      status: 401,
      body: errorOf('invalid_api_key'),
    }))
    expect(await login({ 'x-forwarded-for': '203.0.113.7' })).toBe(200)
    expect(error).toHaveBeenCalledOnce()
    expect(client.counts()).toMatchObject({ misconfigured: 1, unavailable: 0 })
  })

  it('an idle connection that the server closed: the next login is checked all the same', async () => {
    const { server, client, login } = await application(blocking)
    await login({ 'x-forwarded-for': '203.0.113.7' })
    server.closeConnections()
    expect(await login({ 'x-forwarded-for': '203.0.113.8' })).toBe(403)
    expect(client.counts()).toMatchObject({ checked: 2, unavailable: 0 })
  })

  it('a score for a policy: without a decision nobody is stopped, and it is said', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const { login } = await application((asked, response) => {
      const reply = answering(asked, response)
      return { status: 200, body: { ...(reply?.body as object), risk_score: 100 } }
    })
    expect(await login({ 'x-forwarded-for': '203.0.113.7' })).toBe(200)
    expect(String(error.mock.calls[0]?.[0])).toContain('the server has no policies')
  })

  it("a client's own header: what it wrote is not judged", async () => {
    const { server, login } = await application(blocking)
    const headers = {
      'x-forwarded-for': '198.51.100.9, 203.0.113.7',
      forwarded: 'for=198.51.100.9',
      'cf-connecting-ip': '198.51.100.9',
      'true-client-ip': '198.51.100.9',
      'x-real-ip': '198.51.100.9',
    }
    await login(headers)
    expect(server.asked[0]?.body['ip']).toBe('203.0.113.7')
  })
})

it('a report of a request that was not checked, or by a client without reports, is said', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const request = { headers: {}, peer: '203.0.113.7' }
  const client = createFakeClient()
  await createRequestGuard({ client: { check: (ip) => client.check(ip) } })(request)
  for (const unknown of [request, {}]) {
    expect(await iprisk.report(unknown, 'abusive')).toBe(false)
  }
  const said = expect.stringContaining('passed no middleware') as string
  expect(error).toHaveBeenCalledExactlyOnceWith(said)
})
