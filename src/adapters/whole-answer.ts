// Sends files as one answer of known length, piece by piece as the client reads them, and reports
// whether the kernel accepted all of it: only then may a cursor move.
//
// The connection ends after it: its request states no length (framing-guard.ts). uWebSockets.js
// (20.0.8) lets go of an answer at its last byte, and nothing could close it then. So it gets one
// byte more than the header says, and the answer is closed instead of ended.

import type { FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { resumeExchange } from '../http/endpoint/charge-quota.ts'
import { type Exchange, closeExchange, exchangeStates } from '../http/exchange/exchange.ts'
import { replyInternalError, writeHead } from '../http/reply/reply.ts'
import { contentHeaders } from '../http/reply/check-header-bytes.ts'
import { logAnswer } from '../http/reply/request-log.ts'

export type AnswerPart = string | FileHandle

/** So that clients that give up after ten seconds see a 503 with Retry-After. */
const waitMs = 8000
const lookMs = 200

/** What a check finds, as soon as possible: a set was made, or a newer one removed its files. */
export async function awaitFiles<Found>(
  exchange: Exchange,
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  for (let waitedMs = 0; waitedMs < waitMs && isOpen(exchange); waitedMs += lookMs) {
    const found = await look()
    if (found !== undefined) return found
    await sleep(lookMs)
  }
  return undefined
}

/** For work that takes later turns: its errors are answered. */
export function answerLater(exchange: Exchange, work: () => Promise<void>): void {
  void work().catch((error: unknown) => {
    const fail = (): void => replyInternalError(exchange, error)
    if (isOpen(exchange)) resumeExchange(exchange, fail)
    else fail()
  })
}

export const isOpen = ({ state }: Exchange): boolean => state === exchangeStates.open

/** So little that no turn of the loop is long. */
const pieceBytes = 65_536

async function bytesOf(part: AnswerPart): Promise<number> {
  return typeof part === 'string' ? Buffer.byteLength(part) : (await part.stat()).size
}

const piecesOf = (part: AnswerPart): Iterable<Buffer> | AsyncIterable<Buffer> =>
  typeof part === 'string'
    ? [Buffer.from(part)]
    : part.createReadStream({ start: 0, autoClose: false, highWaterMark: pieceBytes })

/** Resolves to whether all of it was sent; call it outside a cork. */
export async function sendWhole(
  exchange: Exchange,
  parts: readonly AnswerPart[],
  headers = contentHeaders,
): Promise<boolean> {
  const { res } = exchange
  const sizes = await Promise.all(parts.map(bytesOf))
  if (!isOpen(exchange)) return false
  const total = sizes.reduce((sum, bytes) => sum + bytes, 0)
  let wake: () => void = () => undefined
  exchange.onEnd = () => wake()
  exchange.state = exchangeStates.answered
  res.onWritable(() => {
    wake()
    return true
  })
  res.cork(() => {
    writeHead(exchange, { status: 200, headers: `${headers}\r\nconnection: close` }, true)
    res.tryEnd('', total)
  })
  /** Even without bytes, for those that uWebSockets.js still holds. */
  const write = async (piece: Uint8Array): Promise<boolean> => {
    for (let from = 0; exchange.state !== exchangeStates.gone;) {
      let isTaken = false
      res.cork(() => {
        const before = res.getWriteOffset()
        isTaken = res.tryEnd(piece.subarray(from), total + 1)[0]
        from += res.getWriteOffset() - before
      })
      if (isTaken) return true
      await new Promise<void>((resolve) => (wake = resolve))
    }
    return false
  }
  for (const part of parts) {
    for await (const piece of piecesOf(part)) if (!(await write(piece))) return false
  }
  if (!(await write(new Uint8Array()))) return false
  if (exchange.service.logRequests) logAnswer(exchange, 200)
  closeExchange(exchange)
  res.close()
  return true
}
