// Room for request bodies that come in pieces. Each body has its own limit (contract 3.11), but
// there are thousands of connections, and clients that send a megabyte each and never end it must
// not fill a worker's memory. So all bodies together have a limit, too. A body above it is read,
// thrown away, counted and answered 503 with Retry-After.
//
// Invariants: a key holds at most half of the room, so that no key alone shuts the others out;
// every holder of room gives it back when the body has been handed on, refused or given up. Small
// bodies are always taken: all connections together hold little in them. All bodies together are a
// small part of the memory above which a worker is replaced, so bodies alone never cause a
// replacement.
//
// Bodies for the pool are lent shared memory out of the same room. V8 does not count shared memory:
// it held a gigabyte of what a key's useless batches of 1 MiB had left before it collected any. So
// no block is ever left to V8: blocks have two sizes and are used again, and there are never more
// of either than have room at one time.

import { batchBodyBytesMax } from '../../api/public-port.ts'
import { bodyBudgetBytesMax, bodyBudgetMemoryShare } from '../../base/limits.ts'
import type { Log } from '../../base/log.ts'
import { countEvent, type RequestCounters } from '../../observe/request-counters.ts'

/**
 * Refusals, and pieces of bodies that nobody reads, in one turn of a worker's loop: 20 ms of work
 * at the most. Far above what clients with a wrong key send in the same instant.
 */
const strangerWorkMax = 4096

/** The first room of every body; a check by an ordinary client is far smaller. */
export const smallBodyBytes = 1024

export interface BodyBudget {
  /** Whether a body that held `held` bytes of room may hold `wanted`. */
  readonly reserve: (keyId: string, held: number, wanted: number) => boolean
  readonly release: (keyId: string, bytes: number) => void
  /** A copy of the body in shared memory; `undefined` where there is no room for it. */
  readonly copyToShared: (keyId: string, body: Uint8Array) => Uint8Array | undefined
  /** To be called when no thread reads the copy any more. */
  readonly releaseShared: (keyId: string, copy: Uint8Array) => void
}

/** Room for a thousand addresses and more; a larger batch gets the room of the largest one. */
const smallBlockBytes = 65_536

/** The room of a worker whose own memory is limited to `memoryBytesMax`. */
export function bodyBudgetBytes(memoryBytesMax: number): number {
  return Math.min(bodyBudgetBytesMax, Math.floor(memoryBytesMax / bodyBudgetMemoryShare))
}

export function createBodyBudget(options: {
  readonly counters: Pick<RequestCounters, 'bodyBytes' | 'totals'>
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly bytesMax?: number | undefined
}): BodyBudget {
  const { counters, log, bytesMax = bodyBudgetBytesMax } = options
  const byKey = new Map<string, number>()
  /** A shortage was logged; the next one is logged only after three quarters are free again. */
  let isShort = false
  const logShortage = (keyId: string): void => {
    if (isShort) return
    isShort = true
    log.warn(
      { keyId, keyBytes: byKey.get(keyId) ?? 0, bodyBytes: counters.bodyBytes, bytesMax },
      'There is no room for a body of this key: those that are on their way hold it.',
    )
  }
  const free = { small: [] as Uint8Array[], large: [] as Uint8Array[] }
  const freeOf = (bytes: number): Uint8Array[] =>
    bytes <= smallBlockBytes ? free.small : free.large
  const blockBytesOf = (bytes: number): number =>
    bytes <= smallBlockBytes ? smallBlockBytes : batchBodyBytesMax
  const budget: BodyBudget = {
    reserve: (keyId, held, wanted) => {
      const own = (byKey.get(keyId) ?? 0) + wanted - held
      const all = counters.bodyBytes + wanted - held
      if (wanted > smallBodyBytes && (all > bytesMax || own > bytesMax / 2)) {
        countEvent(counters, 'shed')
        logShortage(keyId)
        return false
      }
      byKey.set(keyId, own)
      counters.bodyBytes = all
      return true
    },
    release: (keyId, bytes) => {
      const own = (byKey.get(keyId) ?? 0) - bytes
      if (own > 0) byKey.set(keyId, own)
      else byKey.delete(keyId)
      counters.bodyBytes -= bytes
      if (!isShort || counters.bodyBytes > bytesMax / 4) return
      isShort = false
      log.info({ bodyBytes: counters.bodyBytes }, 'There is room for bodies again.')
    },
    copyToShared: (keyId, body) => {
      const blockBytes = blockBytesOf(body.length)
      if (!budget.reserve(keyId, 0, blockBytes)) return undefined
      const block = freeOf(blockBytes).pop() ?? new Uint8Array(new SharedArrayBuffer(blockBytes))
      block.set(body)
      return block.subarray(0, body.length)
    },
    releaseShared: (keyId, { buffer }) => {
      const block = new Uint8Array(buffer)
      freeOf(block.length).push(block)
      budget.release(keyId, block.length)
    },
  }
  return budget
}

/**
 * How much one turn of the loop does for requests that are refused and bodies that nobody reads. To
 * uWebSockets.js all that many connections have sent is one turn; where strangers fill it,
 * everybody waits. Above the budget their connections are closed unanswered, so that a turn stays
 * short.
 *
 * A turn ends when the loop has read all sockets: setImmediate.
 */
export interface RefusalBudget {
  /** Whether another refusal, or another piece of a body that nobody reads, still fits this turn. */
  readonly spend: () => boolean
}

export function createRefusalBudget(): RefusalBudget {
  let spent = 0
  const endTurn = (): void => {
    spent = 0
  }
  return {
    spend: () => {
      if (spent === 0) setImmediate(endTurn)
      spent += 1
      return spent <= strangerWorkMax
    },
  }
}
