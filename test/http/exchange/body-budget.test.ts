// Bodies that are lent to threads: in shared memory that is used again, out of the room for bodies.
// The room of bodies that come in pieces is tried with real requests in request-handler.test.ts.

import { describe, expect, it } from 'vitest'
import { batchBodyBytesMax } from '../../../src/api/public-port.ts'
import { type BodyBudget, createBodyBudget } from '../../../src/http/exchange/body-budget.ts'
import {
  type RequestCounters,
  newRequestCounters,
  counterSnapshot,
  counterTotals,
} from '../../../src/observe/request-counters.ts'

const log = { info: () => undefined, warn: () => undefined }
const largest = new Uint8Array(batchBodyBytesMax).fill(1)

function newBodies(bytesMax?: number): {
  readonly bodies: BodyBudget
  readonly counters: RequestCounters
} {
  const counters = newRequestCounters()
  const options = bytesMax === undefined ? {} : { bytesMax }
  return { counters, bodies: createBodyBudget({ counters, log, ...options }) }
}

describe('a body that is lent', () => {
  it('is a copy in shared memory, of its own length', () => {
    const { bodies } = newBodies()
    for (const length of [1, 65_535, 65_536, 65_537, batchBodyBytesMax]) {
      const body = largest.subarray(0, length)
      const copy = bodies.copyToShared('a', body)!
      expect(copy.buffer).toBeInstanceOf(SharedArrayBuffer)
      expect(Buffer.from(copy).equals(body)).toBe(true)
    }
  })

  it('never shares its memory with another one before it is taken back', () => {
    const { bodies } = newBodies()
    const lent = new Set(
      Array.from({ length: 50 }, () => bodies.copyToShared('a', largest)!.buffer),
    )
    expect(lent.size).toBe(50)
  })

  it('leaves its memory to the next one, and nothing to the collector', () => {
    const { bodies } = newBodies()
    const used = new Set<ArrayBufferLike>()
    for (let i = 0; i < 1000; i += 1) {
      const short = bodies.copyToShared('a', Uint8Array.of(i))!
      const long = bodies.copyToShared('a', largest)!
      used.add(short.buffer).add(long.buffer)
      bodies.releaseShared('a', short)
      bodies.releaseShared('a', long)
    }
    expect(used.size).toBe(2)
  })

  it('takes room that all bodies share and of which a key has half', () => {
    const { bodies, counters } = newBodies(8 * batchBodyBytesMax)
    const lend = (keyId: string): Uint8Array | undefined => bodies.copyToShared(keyId, largest)
    const ofA = [1, 2, 3, 4].map(() => lend('a'))
    expect(ofA).not.toContain(undefined)
    expect(lend('a')).toBeUndefined()
    expect([1, 2, 3, 4].map(() => lend('b'))).not.toContain(undefined)
    expect(lend('c')).toBeUndefined()
    expect(counters.bodyBytes).toBe(8 * batchBodyBytesMax)
    expect(counterTotals(counterSnapshot(counters)).shed).toBe(2)
    bodies.releaseShared('a', ofA[0]!)
    expect(lend('c')).toBeInstanceOf(Uint8Array)
    // One that comes in pieces finds the same room taken.
    expect(bodies.reserve('d', 0, batchBodyBytesMax)).toBe(false)
  })
})
