// The deadline of what is in the pool: a thread that does not answer costs its client half a
// minute, not for ever. Real threads; the clock and the connection stand in.

import { writeFileSync } from 'node:fs'
import type { HttpResponse } from 'uWebSockets.js'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { poolRequestMsMax } from '../../../src/base/limits.ts'
import { type Pool, createPool } from '../../../src/pool/pool.ts'
import { newRequestCounters } from '../../../src/observe/request-counters.ts'
import {
  type Exchange,
  type Service,
  closeExchange,
  exchangeStates,
  insightsModes,
} from '../../../src/http/exchange/exchange.ts'
import { enterPoolOr503, onPoolResult } from '../../../src/http/endpoint/pool-request.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { nothingAsked } from '../../../src/context/asked-members.ts'
import { createServedPolicies } from '../../../src/http/exchange/served-policies.ts'

const path = writeSmallTable()
const stuck = `${path}.stuck.mjs`
writeFileSync(stuck, 'export const run = () => new Promise(() => setInterval(() => {}, 1000))\n')

let pool: Pool
const told: string[] = []

beforeEach(() => {
  told.length = 0
  pool = createPool({ threads: 1, queue: 1, program: stuck })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})

afterEach(async () => {
  vi.useRealTimers()
  await pool.close()
})

/** What an exchange uses of these, and no more. */
function newExchange(): Exchange {
  const tell = (what: string) => (text: unknown) => void told.push(`${what} ${String(text)}`)
  const res = {
    cork: (write: () => void) => write(),
    writeStatus: tell('status'),
    writeHeader: () => undefined,
    end: tell('body'),
    close: () => void told.push('closed'),
  } as unknown as HttpResponse
  const service = {
    pool,
    file: () => ({ table: 1, path, builtMs: 0 }),
    lists: () => undefined,
    counters: newRequestCounters(),
    limiter: { refund: () => void told.push('refunded'), policy: () => '' },
    policies: createServedPolicies(),
    logRequests: false,
    draining: false,
    pending: 1,
  } as unknown as Service
  return {
    service,
    res,
    clientRequestId: 'one',
    requestIdNumber: 0,
    headOnly: false,
    remoteAddress: '',
    policy: '',
    checkedAddress: '',
    insights: insightsModes.given,
    asked: nothingAsked,
    context: undefined,
    rateCost: 1,
    units: 1,
    refundableUnits: 1,
    refundableMonth: 0,
    onEnd: undefined,
    startedMs: 0,
    keepAlive: true,
    closesItself: false,
    key: { allowance: {} } as unknown as Exchange['key'],
    source: undefined,
    visit: undefined,
    state: exchangeStates.open,
    recycle: () => undefined,
  }
}

function ask(exchange: Exchange): void {
  const ticket = enterPoolOr503(exchange)!
  const result = ticket.run({ kind: 'insights', text: '9.1.2.3' })
  onPoolResult(exchange, { result, kind: 'answered' }, () => void told.push('answered'))
}

describe('what the pool does not answer', () => {
  it('is 503 after half a minute, gives back its unit and leaves the pool', () => {
    const exchange = newExchange()
    ask(exchange)
    vi.advanceTimersByTime(poolRequestMsMax - 1)
    expect([told, pool.counts().requests]).toEqual([[], 1])
    vi.advanceTimersByTime(1)
    expect(told[0]).toBe('refunded')
    expect(told[1]).toBe('status 503 Service Unavailable')
    expect(told[2]).toContain('"code":"upstream_unavailable"')
    expect(pool.counts().requests).toBe(0)
    expect([exchange.state, exchange.service.pending]).toEqual([exchangeStates.gone, 0])
  })

  it('is cut off where its answer has begun: its client sees that the end is missing', () => {
    const exchange = newExchange()
    ask(exchange)
    exchange.state = exchangeStates.answered
    exchange.refundableUnits = 0
    vi.advanceTimersByTime(poolRequestMsMax)
    expect(told).toEqual(['closed'])
  })

  it('is not waited for any more once its client has gone', () => {
    const exchange = newExchange()
    ask(exchange)
    closeExchange(exchange)
    expect(pool.counts().requests).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(poolRequestMsMax)
    expect(told).toEqual(['refunded'])
  })
})
