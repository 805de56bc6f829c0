// What the circuit and the cache of a client hang on besides the server: bodies and the clock.

import { expect, it, vi } from 'vitest'
import { createClient } from '../../../src/client/node-client.ts'
import { answering, standIn } from '../stand-in.ts'

/** A server that is down at first, and a client whose circuit opens at once, for a millisecond. */
async function clientOver(cacheMs: number) {
  const state = { isDown: true }
  const server = await standIn((asked, response) =>
    state.isDown ? { status: 503, body: {} } : answering(asked, response),
  )
  const client = createClient({
    url: server.url,
    key: 'irk_k',
    timeoutMs: 2000,
    circuitFailures: 1,
    circuitMs: 1,
    cacheMs,
    onUnavailable: () => undefined,
  })
  return { state, server, client }
}

it('sends a probe after one that could not be written', async () => {
  const { client, state } = await clientOver(0)
  await client.check('203.0.113.1', { insights: true })
  state.isDown = false
  await new Promise((resolve) => setTimeout(resolve, 20))
  const note = 12n as unknown as string
  const outcome = { ip: '203.0.113.1', outcome: 'abusive', note } as const
  expect(await client.feedback([outcome])).toEqual({ ok: false, reason: 'unavailable' })
  expect(await client.check('203.0.113.1', { insights: true })).toMatchObject({ ok: true })
  client.close()
})

it('takes a controller for no signal, and sends a probe after it', async () => {
  const { client, state } = await clientOver(0)
  await client.check('203.0.113.1')
  state.isDown = false
  await new Promise((resolve) => setTimeout(resolve, 20))
  const signal = new AbortController() as unknown as AbortSignal
  expect(await client.check('203.0.113.1', { signal })).toMatchObject({ reason: 'unavailable' })
  expect(await client.check('203.0.113.1')).toMatchObject({ ok: true })
  client.close()
})

it('ends what it keeps in time, though the clock of the day is set back', async () => {
  const { now } = Date
  let lateMs = 0
  vi.spyOn(Date, 'now').mockImplementation(() => now() - lateMs)
  const { client, state, server } = await clientOver(1)
  await client.check('203.0.113.1')
  state.isDown = false
  for (let i = 0; i < 2; i++) {
    lateMs += 3_600_000
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await client.check('203.0.113.1')).toMatchObject({ ok: true })
  }
  vi.restoreAllMocks()
  expect(server.asked).toHaveLength(3)
  client.close()
})
