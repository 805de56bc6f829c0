// The framing matrix against the server alone. What was served is the server's own word: its log
// has a line for each request that it answered.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Server } from '../serve/server.ts'
import { converse } from '../http/raw-socket.ts'
import { framingCases, wordsOf } from './framing-cases.ts'
import { runMatrix, startLoggingServer } from './framing-matrix.ts'
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

it('has more than two hundred cases, each with its own name', () => {
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
    const seen = await eventually(() => log().includes('seen-smuggled'))
    expect(seen).toBe(true)
  })
})
