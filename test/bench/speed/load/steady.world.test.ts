// The open-loop generator, against servers whose faults are known: what it counts and from when.

import { mkdtempSync } from 'node:fs'
import { type RequestListener, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { requestsOf } from '../../../../bench/speed/load/request.ts'
import {
  type SteadyResult,
  encodeRequests,
  newSteadyDriver,
} from '../../../../bench/speed/load/steady.ts'
import { need } from '../peer.ts'

const requests = requestsOf('irk_test', ['9.1.2.3', '2a00::1'])

async function load(
  context: Parameters<typeof need>[1],
  listener: RequestListener,
  run: { readonly rate: number; readonly connections: number },
): Promise<SteadyResult> {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-steady-'))
  const steady = need(newSteadyDriver(requests, folder), context)
  const server = createServer(listener)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  try {
    const { port } = server.address() as AddressInfo
    return await steady({ port, seconds: 1, core: undefined, ...run })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const answer: RequestListener = (request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(200, { 'content-length': 2 }).end('ok'))
}

describe('the open loop', () => {
  it('sends what was asked for, whole, and counts it in its histogram', async (context) => {
    const bodies = new Map<string, number>()
    const result = await load(
      context,
      (request, response) => {
        let body = ''
        request.setEncoding('utf8').on('data', (text: string) => (body += text))
        request.on('end', () => {
          bodies.set(body, (bodies.get(body) ?? 0) + 1)
          response.writeHead(200, { 'content-length': 2 }).end('ok')
        })
      },
      { rate: 400, connections: 4 },
    )
    expect(result).toMatchObject({ sent: 400, answered: 400, status: 0, broken: 0 })
    expect([...bodies]).toEqual([
      ['{"ip":"9.1.2.3"}', 200],
      ['{"ip":"2a00::1"}', 200],
    ])
    const counted = result.histogram.reduce((sum, [, count]) => sum + count, 0)
    expect(counted).toBe(400)
    expect(result.p50).toBeLessThanOrEqual(result.p99)
    expect(result.p99).toBeLessThanOrEqual(result.p999)
  })

  it('charges a stall to all requests that were due in it', async (context) => {
    let stalled = false
    const result = await load(
      context,
      (request, response) => {
        if (!stalled) {
          stalled = true
          const end = performance.now() + 400
          while (performance.now() < end);
        }
        answer(request, response)
      },
      { rate: 200, connections: 2 },
    )
    // 80 of 200 were due in the stall and waited 200 ms on average; in a closed loop only the two
    // that were on their way would have seen it.
    const slow = result.histogram.filter(([us]) => us > 50_000)
    expect(slow.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(50)
    expect(result.p90).toBeGreaterThan(200_000)
  })

  it('counts answers that are none, and answers that never come', async (context) => {
    const refused = await load(
      context,
      (request, response) => {
        request.resume()
        request.on('end', () => response.writeHead(503, { 'content-length': 0 }).end())
      },
      { rate: 50, connections: 2 },
    )
    expect(refused).toMatchObject({ status: 50, broken: 0 })
    const silent = await load(context, () => undefined, { rate: 50, connections: 2 })
    expect(silent).toMatchObject({ answered: 0, broken: 50 })
  })

  it('gives each request its length', () => {
    const bytes = encodeRequests(requests)
    const length = bytes.readUInt32LE(0)
    const first = bytes.subarray(4, 4 + length).toString()
    expect(first).toMatch(/^POST \/v1\/intelligence\/ip-risk\/check HTTP\/1\.1\r\n/)
    expect(first).toContain('content-length: 16\r\n')
    expect(first.endsWith('\r\n\r\n{"ip":"9.1.2.3"}')).toBe(true)
    // Six headers, as wrk sends them.
    expect(first.split('\r\n\r\n')[0]?.split('\r\n')).toHaveLength(7)
  })
})
