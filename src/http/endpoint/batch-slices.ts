// Answers small batches on the loop (contract 6.10: cost), in slices, so that other requests wait
// for one slice and not for a batch. Each element is answered as a check is, by `answerBytes`.
// Invariant: one batch is answered at a time, so there is one buffer for answers.

import { performance } from 'node:perf_hooks'
import { appendBytes, newGrowingBuffer, resetBuffer } from '../../bulk/growing-buffer.ts'
import type { AskedCheck } from '../../pool/batch-body.ts'
import { newQuery } from '../../table/lookup/query.ts'
import { type Exchange, exchangeStates } from '../exchange/exchange.ts'
import { replyBytes, replyError, replyInternalError } from '../reply/reply.ts'
import { resumeExchange } from './charge-quota.ts'
import { parseAddressText } from './check-body.ts'
import { answerBytes } from './check-endpoint.ts'

/** The slices of all batches in one turn of the loop. */
const sliceMs = 0.25
/** Elements between looks at the clock; with heavy policies or detections each looks. */
const elementsALook = 4

interface Work {
  readonly exchange: Exchange
  readonly elements: readonly (AskedCheck | string)[]
  readonly policy: string
  /** The first element without an answer. */
  next: number
}

const queue: Work[] = []
const output = newGrowingBuffer()
const keptBytesMax = 1 << 20
const query = newQuery()

const encoder = new TextEncoder()
const before = encoder.encode('{"results":[')
const between = encoder.encode(',')
const after = encoder.encode(']}')

export function enqueueBatch(exchange: Exchange, elements: Work['elements']): void {
  queue.push({ exchange, elements, policy: exchange.policy, next: 0 })
  if (queue.length === 1) setImmediate(answerSlice)
}

/** Never throws: it is a callback of the loop. */
function answerSlice(): void {
  const endMs = performance.now() + sliceMs
  while (queue.length > 0 && isFinished(queue[0]!, endMs)) {
    bringOther(queue.shift()!)
    if (performance.now() >= endMs) break
  }
  if (queue.length > 0) setImmediate(answerSlice)
}

/** Keys take turns, so that one with many batches does not hold up the others. */
function bringOther(answered: Work): void {
  const owner = answered.exchange.key?.keyId
  const at = queue.findIndex(({ exchange }) => exchange.key?.keyId !== owner)
  if (at > 0) queue.unshift(...queue.splice(at, 1))
}

/** Answers elements until `endMs`; returns whether the batch is complete. */
function isFinished(work: Work, endMs: number): boolean {
  const { exchange, elements } = work
  const { service } = exchange
  if (exchange.state !== exchangeStates.open) return true
  const isHeavy = service.policies.isHeavy() || exchange.asked.detections
  const step = isHeavy ? 1 : elementsALook
  try {
    for (; work.next < elements.length; work.next++) {
      if (work.next % step === 0 && performance.now() >= endMs) return false
      if (!answerElement(work)) {
        resumeExchange(exchange, () => replyError(exchange, 'upstream_unavailable'))
        return true
      }
    }
    appendBytes(output, after)
    const body = output.bytes.subarray(0, output.length)
    resumeExchange(exchange, () => replyBytes(exchange, body))
  } catch (error) {
    resumeExchange(exchange, () => replyInternalError(exchange, error))
  }
  return true
}

/** False without a table. */
function answerElement({ exchange, elements, next, policy }: Work): boolean {
  const table = exchange.service.table()
  if (table === undefined) return false
  if (next === 0) resetBuffer(output, output.bytes.length > keptBytesMax ? undefined : output.bytes)
  appendBytes(output, next === 0 ? before : between)
  const element = elements[next]!
  if (typeof element === 'string') appendBytes(output, encoder.encode(element))
  else {
    exchange.policy = element.policy ?? policy
    exchange.context = element.context
    parseAddressText(query, element.ip)
    appendBytes(output, answerBytes(exchange, query, table, undefined))
  }
  return true
}
