// What a client that was given no functions logs: a server that is away for a while, a wrong key.

import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Client } from '../../../src/client/core/check-result.ts'
import { createClient as createFetchClient } from '../../../src/client/client.ts'
import { createClient as createNodeClient } from '../../../src/client/node-client.ts'
import { type Act, answerFor, answering, errorOf, standIn } from '../stand-in.ts'

const key = 'irk_test'

describe.each([
  ['node:http', createNodeClient],
  ['fetch', createFetchClient],
])('an outage, for a client without functions, over %s', (_name, create) => {
  afterEach(() => vi.restoreAllMocks())

  const down = { status: 503, body: errorOf('upstream_unavailable') }
  const outage = 'iprisk is unavailable; 1 request was not checked: "upstream_unavailable'

  async function lines(
    act: Act,
    use: (client: Client, state: { isDown: boolean }) => Promise<void>,
  ): Promise<readonly string[]> {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const state = { isDown: true }
    const server = await standIn((asked, response) => (state.isDown ? down : act(asked, response)))
    const client = create({ url: server.url, key, cacheMs: 60_000, circuitMs: 1, timeoutMs: 5000 })
    await use(client, state)
    client.close()
    return error.mock.calls.map(([line]) => String(line))
  }

  it('is reported at once and when it ends, open circuit included', async () => {
    const said = await lines(answering, async (client, state) => {
      state.isDown = false
      await client.check('203.0.113.1')
      state.isDown = true
      for (let i = 0; i < 9; i++) await client.check('203.0.113.2')
      // What was kept from before says nothing of the server.
      expect(await client.check('203.0.113.1')).toMatchObject({ ok: true })
      state.isDown = false
      await vi.waitFor(async () => {
        expect(await client.check('203.0.113.2')).toMatchObject({ ok: true })
      })
    })
    expect(said).toEqual([
      expect.stringContaining(outage),
      expect.stringMatching(/^iprisk answers again; \d+ requests were not checked/),
    ])
  })

  it('counts each address of a batch', async () => {
    const act: Act = ({ body }) => ({
      status: 200,
      body: { results: (body['ips'] as string[]).map((ip) => answerFor(ip)) },
    })
    const said = await lines(act, async (client, state) => {
      await client.checkBatch(['203.0.113.1', '203.0.113.2', '203.0.113.3'])
      state.isDown = false
      await client.checkBatch(['203.0.113.1'])
    })
    expect(said).toEqual([
      expect.stringContaining(outage),
      'iprisk answers again; 3 requests were not checked',
    ])
  })

  it('of feedback is reported separately', async () => {
    const outcomes = [{ ip: '203.0.113.1', outcome: 'abusive' }] as const
    const act: Act = () => ({ status: 202, body: { accepted: 1 } })
    const said = await lines(act, async (client, state) => {
      await client.check('203.0.113.1')
      await client.feedback(outcomes)
      state.isDown = false
      await client.feedback(outcomes)
    })
    expect(said).toEqual([
      expect.stringContaining(outage),
      expect.stringContaining('iprisk does not accept feedback; 1 report was not accepted'),
      'iprisk answers again; 1 report was not accepted',
    ])
  })
})

describe('a wrong key', () => {
  afterEach(() => vi.restoreAllMocks())

  it('is logged to the console once a minute if the application has no function for it', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const server = await standIn(() => ({ status: 401, body: errorOf('invalid_api_key') }))
    const client = createNodeClient({ url: server.url, key, timeoutMs: 5000 })
    for (let i = 0; i < 3; i++) await client.check('203.0.113.1')
    expect(error.mock.calls).toEqual([
      [
        'iprisk is misconfigured; 1 request was not checked: "invalid_api_key It is invalid_api_key."',
      ],
    ])
    expect(client.counts().misconfigured).toBe(3)
    client.close()
  })
})
