// What a check leaves for the garbage collector between the binding's calls: the view of its body,
// and an instant or two as numbers on the heap, 16 bytes each, where V8 does not inline the call
// that takes them. The server's own path from headers to answer on a small table with real keys,
// rate and quota; in the place of the binding stands what allocates nothing, so what is found is
// ours. So it is with the object that Node.js makes for the end of a turn of the loop, one for all
// checks of the turn.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GCProfiler } from 'node:v8'
import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openAccount } from '../../src/account/open-account.ts'
import { createKey } from '../../src/account/keys/issue-key.ts'
import { openLmdbKeyStore } from '../../src/account/stores/lmdb/lmdb-stores.ts'
import { createLog } from '../../src/base/log.ts'
import { createBodyBudget, createRefusalBudget } from '../../src/http/exchange/body-budget.ts'
import { newRequestCounters } from '../../src/observe/request-counters.ts'
import type { Service } from '../../src/http/exchange/exchange.ts'
import { handleRequest } from '../../src/http/request-handler.ts'
import { createRequestIds } from '../../src/http/exchange/request-id.ts'
import { checkEndpoint } from '../../src/http/routes.ts'
import { openTable } from '../../src/table/open-table.ts'
import { writeSmallTable } from '../table/small-table.ts'
import { createServedPolicies } from '../../src/http/exchange/served-policies.ts'

const table = openTable(writeSmallTable())
const folder = mkdtempSync(join(tmpdir(), 'iprisk-garbage-'))
const addresses = ['9.1.2.3', '11.5.5.5', '13.0.0.1', '10.0.0.1', '2a01:4f8::1', '::ffff:9.1.2.3']
const bodies = addresses.map((ip) => {
  const bytes = Buffer.from(JSON.stringify({ ip }))
  return { length: String(bytes.length), chunk: new Uint8Array(bytes).buffer }
})

let service: Service
let authorization = ''
let end: () => Promise<void>

/** The body that comes next. */
let coming = bodies[0]!
let answered = 0
/** Of them, those that waited for the end of their turn. */
let corked = 0
const nothing = (): void => undefined
/** What waits for the end of the turn. */
let atEnd = nothing
function endTurn(): void {
  const call = atEnd
  atEnd = nothing
  call()
}

const request = {
  forEach: (take: (name: string, value: string) => void) => {
    take('host', 'localhost')
    take('authorization', authorization)
    take('content-type', 'application/json')
    take('content-length', coming.length)
  },
  getQuery: () => undefined,
} as unknown as HttpRequest

const response = {
  onAborted: () => response,
  onData: (take: (chunk: ArrayBuffer, isLast: boolean) => void) => {
    take(coming.chunk, true)
    return response
  },
  cork: (write: () => void) => {
    corked += 1
    write()
    return response
  },
  writeHeader: () => response,
  end: () => {
    answered += 1
    return response
  },
} as unknown as HttpResponse

/** More than all checks here: a lease is fetched in another turn of the loop, and none comes here. */
const unitsAhead = 1_000_000

beforeAll(async () => {
  const store = await openLmdbKeyStore(folder)
  const limits = { perSecond: 1_000_000, burst: 10_000_000, quotaPerMonth: 1e9 }
  const named = { name: 'garbage', plan: 'test', apis: ['ip-risk'], limits } as const
  authorization = `Bearer ${(await createKey(store, named, Date.now())).text}`
  await store.close()
  const { keyring, limiter } = await openAccount({
    stateFolder: folder,
    plans: { test: { name: 'test', apis: ['ip-risk'], insights: 'on_request' } },
    onTrouble: () => expect.unreachable('the limits are in trouble'),
    onRecovery: () => undefined,
  })
  await keyring.refresh(Date.now())
  const key = keyring.authenticate(authorization)
  if (key.kind === 'denied') throw new Error('the key is denied')
  limiter.spendQuota(key.allowance, unitsAhead, performance.now())
  await new Promise<void>((resolve) => limiter.whenLeased(key.allowance, resolve))
  end = limiter.close
  const counters = newRequestCounters()
  const log = createLog({ level: 'silent' } as never)
  service = {
    keyring,
    limiter,
    counters,
    bodyBudget: createBodyBudget({ counters, log }),
    log,
    requestIds: createRequestIds(),
    table: () => table,
    file: () => undefined,
    lists: () => undefined,
    pool: undefined as never,
    verifier: undefined as never,
    stateFolder: '',
    refusalBudget: createRefusalBudget(),
    heartbeat: { lastBeatMs: Infinity, beat: () => undefined },
    policies: createServedPolicies(),
    logRequests: false,
    logAddresses: false,
    pending: 0,
    draining: false,
  }
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await end()
  rmSync(folder, { recursive: true })
})

/** Each round is a turn of the loop. */
function checkAll(rounds: number): void {
  for (let round = 0; round < rounds; round++) {
    for (const body of bodies) {
      coming = body
      handleRequest(service, response, request, checkEndpoint)
    }
    endTurn()
  }
}

/** Three numbers: the smallest closure with its context is larger. */
const numbersBytes = 3 * 16 + 1

const measures = 51
const roundsEach = 100

/**
 * Bytes of heap that a body takes: the median of the measures within which nothing was collected.
 * Garbage so large that most of them see a collection is Infinity, for it fits between no two.
 */
function bytesPerBody(work: (rounds: number) => void): number {
  const found = Array.from({ length: measures }, () => {
    const collections = new GCProfiler()
    collections.start()
    const before = process.memoryUsage().heapUsed
    work(roundsEach)
    const bytes = process.memoryUsage().heapUsed - before
    return collections.stop().statistics.length > 0 ? Infinity : bytes
  })
  const median = found.sort((a, b) => a - b)[(measures - 1) / 2]!
  return median / roundsEach / bodies.length
}

/** What leaves so many bytes for each body, and 16 more. */
let kept: readonly number[] = []
function leave(bytes: number): (rounds: number) => void {
  const full = Array.from({ length: bytes / 8 }, () => 0.5)
  return (rounds) => {
    for (let i = 0; i < rounds * bodies.length; i++) kept = full.slice()
  }
}

describe('the measure', () => {
  it.each([160, 800, 1600, 4800, 48_000])('sees %i bytes of garbage a body', (bytes) => {
    expect(bytesPerBody(leave(bytes))).toBeGreaterThanOrEqual(bytes)
    expect(kept).toHaveLength(bytes / 8)
  })

  it('sees none where there is none', () => {
    expect(Math.abs(bytesPerBody(() => undefined))).toBeLessThan(numbersBytes / 3)
  })
})

/** What no request can do without: the binding hands over a buffer, and only a view reads it. */
let view = new Uint8Array(0)
function viewAll(rounds: number): void {
  for (let round = 0; round < rounds; round++) {
    for (const { chunk } of bodies) view = new Uint8Array(chunk)
  }
}

describe('a check, between the calls of the binding', () => {
  it('leaves no object but the view of its body', () => {
    vi.stubGlobal('setImmediate', (call: () => void) => {
      if (atEnd !== nothing) throw new Error('Two things wait for the end of the turn.')
      atEnd = call
    })
    checkAll(5000)
    viewAll(5000)
    const before = answered
    const corkedBefore = corked
    const bytes = bytesPerBody(checkAll)
    const checks = measures * roundsEach * bodies.length
    expect([answered - before, corked - corkedBefore]).toEqual([checks, checks])
    expect(service.counters.requests[0]).toBe(answered)
    const own = bytesPerBody(viewAll)
    // Not Infinity, that is: a view alone takes about a hundred.
    expect(own).toBeLessThan(500)
    expect(Math.abs(bytes - own)).toBeLessThan(numbersBytes)
    expect(view.length).toBeGreaterThan(0)
  })
})
