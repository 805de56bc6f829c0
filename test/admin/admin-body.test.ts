// Bodies of the admin port that never end, on a real port: how much they may hold, for how long,
// and that a viewer's keep no admin out. The clock of the deadline is the test's own.

import { connect } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { withBody } from '../../src/admin/admin-api.ts'
import { adminBodyMsMax, readAdminBody } from '../../src/admin/admin-body.ts'
import type { AdminCaller } from '../../src/admin/admin-caller.ts'
import { adminRefusalCodes, createAdminRefusals } from '../../src/admin/admin-refusals.ts'
import type { Log } from '../../src/base/log.ts'
import { startAdminServer } from '../../src/admin/admin-server.ts'
import { createTokenGuard, type TokenGuard } from '../../src/admin/token-guard.ts'

const wall: AdminCaller = { role: 'viewer', name: 'wall', via: 'admin port' }
const maria: AdminCaller = { role: 'admin', name: 'maria', via: 'admin port' }
const mebibyte = 1_048_576

/** A body of which `bytes` have come. */
async function begun(caller: AdminCaller, bytes: number, bytesMax = 2 * mebibyte) {
  const stream = new PassThrough({ highWaterMark: bytes + 1 })
  const read = readAdminBody(stream as unknown as IncomingMessage, { caller, bytesMax })
  const code = read.then(
    (body) => body,
    (error: { readonly code: string }) => error.code,
  )
  stream.write(Buffer.alloc(bytes, 97))
  await new Promise((resolve) => setImmediate(resolve))
  return { stream, code }
}

describe('the room of bodies', () => {
  it('has half a role for one caller, and other roles their own; a finished body gives it back', async () => {
    const [first, second] = [await begun(wall, 2 * mebibyte), await begun(wall, 2 * mebibyte)]
    const third = await begun(wall, 2 * mebibyte)
    expect(await third.code).toBe('admin_bodies_full')
    const admin = await begun(maria, 2 * mebibyte)
    admin.stream.end()
    const body = await admin.code
    if (typeof body === 'string') throw new Error(body)
    expect([body.bytes.length, body.bytes[mebibyte]]).toEqual([2 * mebibyte, 97])
    body.release()
    first.stream.destroy()
    expect(await first.code).toBe('admin_body_late')
    const fourth = await begun(wall, 2 * mebibyte)
    for (const { stream } of [second, fourth]) stream.end()
    for (const { code } of [second, fourth]) {
      const done = await code
      if (typeof done !== 'string') done.release()
    }
    const fifth = await begun(wall, 2 * mebibyte + 1)
    expect(await fifth.code).toBe('payload_too_large')
  })

  it('is not asked for small bodies', async () => {
    const small = await Promise.all(Array.from({ length: 3000 }, () => begun(wall, 4096, 4096)))
    for (const { stream } of small) stream.end()
    for (const { code } of small) expect(typeof (await code)).toBe('object')
  })

  it('gives a body up that is not complete in time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { stream, code } = await begun(wall, 10)
      vi.advanceTimersByTime(adminBodyMsMax - 1)
      stream.write('x')
      vi.advanceTimersByTime(1)
      expect(await code).toBe('admin_body_late')
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('an admin port', () => {
  const told: { readonly reason: string; readonly count: number }[] = []
  let clock = 0
  const warn: Log['warn'] = (row) => void told.push(row as unknown as (typeof told)[number])
  const refusals = createAdminRefusals({ warn }, () => clock)
  const judge = createTokenGuard((token) => (token === 'right' ? wall : undefined))
  const guard: TokenGuard = (token, address) => judge(token, address, 0)
  const route = withBody(z.strictObject({}), {
    method: 'POST',
    path: '/admin/x',
    role: 'viewer',
    summary: '',
    status: 200,
    answer: {},
    run: async () => ({}),
  })
  let server: Awaited<ReturnType<typeof startAdminServer>>
  beforeAll(async () => {
    const unused = async (): Promise<never> => Promise.reject(new Error('not asked'))
    server = await startAdminServer(
      {
        readiness: () => 'ready',
        metrics: unused,
        status: async () => ({}),
        routes: [route],
        guard,
        refusals,
      },
      { host: '127.0.0.1', port: 0 },
    )
  })
  afterAll(() => server.close())

  it('answers a body without room and leaves the connection readable, and counts it', async () => {
    const held = [await begun(wall, 2 * mebibyte), await begun(wall, 2 * mebibyte)]
    const socket = connect(server.port, '127.0.0.1')
    socket.write(
      'POST /admin/x HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer right\r\n' +
        `content-length: ${2 * mebibyte}\r\n\r\n`,
    )
    socket.write(Buffer.alloc(mebibyte))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(String(answer)).toMatch(/^HTTP\/1.1 503 [^]*retry-after: 5[^]*"admin_bodies_full"/)
    socket.destroy()
    for (const { stream } of held) stream.destroy()
    expect(refusals.counts().admin_bodies_full).toBe(1)
  })

  it('counts wrong tokens, limits them, and logs them once a minute', async () => {
    const ask = async (token?: string) => {
      const headers = new Headers()
      if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
      const reply = await fetch(`http://127.0.0.1:${server.port}/status`, { headers })
      await reply.text()
      return [reply.status, Number(reply.headers.get('retry-after')) > 0]
    }
    told.length = 0
    expect(await ask('right')).toEqual([200, false])
    for (let i = 0; i < 10; i += 1) expect(await ask('wrong')).toEqual([401, false])
    expect(await ask('wrong')).toEqual([429, true])
    expect(await ask('right')).toEqual([200, false])
    expect(await ask()).toEqual([401, false])
    expect(told).toEqual([
      { reason: 'wrong_token', count: 1 },
      { reason: 'too_many_logins', count: 1 },
    ])
    expect(refusals.counts()).toMatchObject({ wrong_token: 10, too_many_logins: 1 })
    clock = 60_000
    refusals.note('wrong_token')
    expect(told.at(-1)).toEqual({ reason: 'wrong_token', count: 10 })
    expect(adminRefusalCodes).toContain('admin_body_late')
  })
})
