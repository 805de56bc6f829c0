// Room for request bodies that come in pieces. Each body has its own limit (contract 3.11: 64 KiB,
// batches 1 MiB), but thousands of clients that send a megabyte each and never end it must not fill
// a worker's memory: all bodies together have a limit, too. A body above it is read, discarded,
// counted and answered 503 with Retry-After.
// Invariants: a key holds at most half of the room; every holder of room returns it once the
// body has been passed on, refused or abandoned. Small bodies are always accepted. The room is a
// small part of the memory above which a worker is replaced.
// Bodies for the pool borrow shared memory from the same room. V8 does not count shared memory:
// it held a gigabyte of useless batches before it collected any. So blocks have two sizes and are
// reused, and there are never more of either than have room at one time.

import { batchBodyBytesMax } from '../../api/public-port.ts'
import { bodyBudgetBytesMax, bodyBudgetMemoryShare } from '../../base/limits.ts'
import type { Log } from '../../base/log.ts'
import { countEvent, type RequestCounters } from '../../observe/request-counters.ts'

/**
 * Refusals, and pieces of bodies that are not read, in one turn of the loop: at most 20 ms of work,
 * far above what clients with a wrong key send in the same instant.
 */
const strangerWorkMax = 4096

/** The first room of every body; a check by an ordinary client is far smaller. */
export const smallBodyBytes = 1024

export type BodyBudget = ReturnType<typeof createBodyBudget>

/** Room for a thousand addresses; a larger batch gets a block of the largest size. */
const smallBlockBytes = 65_536

export function bodyBudgetBytes(memoryBytesMax: number): number {
  return Math.min(bodyBudgetBytesMax, Math.floor(memoryBytesMax / bodyBudgetMemoryShare))
}

export function createBodyBudget(options: {
  readonly counters: Pick<RequestCounters, 'bodyBytes' | 'totals'>
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly bytesMax?: number | undefined
}) {
  const { counters, log, bytesMax = bodyBudgetBytesMax } = options
  const byKey = new Map<string, number>()
  /** A shortage was logged; the next one is logged only after three quarters are free again. */
  let isShort = false
  const logShortage = (keyId: string): void => {
    if (isShort) return
    isShort = true
    log.warn(
      { keyId, keyBytes: byKey.get(keyId) ?? 0, bodyBytes: counters.bodyBytes, bytesMax },
      'No room for a request body of this key: its other bodies in flight hold it.',
    )
  }
  const free = { small: [] as Uint8Array[], large: [] as Uint8Array[] }
  const freeOf = (bytes: number): Uint8Array[] =>
    bytes <= smallBlockBytes ? free.small : free.large
  const blockBytesOf = (bytes: number): number =>
    bytes <= smallBlockBytes ? smallBlockBytes : batchBodyBytesMax
  const budget = {
    /** A body that held `held` bytes. */
    reserve: (keyId: string, held: number, wanted: number): boolean => {
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
    release: (keyId: string, bytes: number): void => {
      const own = (byKey.get(keyId) ?? 0) - bytes
      if (own > 0) byKey.set(keyId, own)
      else byKey.delete(keyId)
      counters.bodyBytes -= bytes
      if (!isShort || counters.bodyBytes > bytesMax / 4) return
      isShort = false
      log.info({ bodyBytes: counters.bodyBytes }, 'Room for request bodies is available again.')
    },
    /** `undefined` where there is no room. */
    copyToShared: (keyId: string, body: Uint8Array): Uint8Array | undefined => {
      const blockBytes = blockBytesOf(body.length)
      if (!budget.reserve(keyId, 0, blockBytes)) return undefined
      const block = freeOf(blockBytes).pop() ?? new Uint8Array(new SharedArrayBuffer(blockBytes))
      block.set(body)
      return block.subarray(0, body.length)
    },
    /** To be called once no thread reads the copy any more. */
    releaseShared: (keyId: string, { buffer }: Uint8Array): void => {
      const block = new Uint8Array(buffer)
      freeOf(block.length).push(block)
      budget.release(keyId, block.length)
    },
  }
  return budget
}

/**
 * How much one turn of the loop does for refused requests and unread bodies. For uWebSockets.js,
 * all that many connections have sent is one turn; above the budget their connections are closed
 * unanswered. A turn ends when the loop has read all sockets: setImmediate.
 */
export type RefusalBudget = ReturnType<typeof createRefusalBudget>

export function createRefusalBudget() {
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
