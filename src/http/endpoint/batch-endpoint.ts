// POST /v1/intelligence/ip-risk/check/batch (contract 3.16: batch, 6.10: cost): many addresses,
// answered in order, each byte for byte like a single check. The loop answers small batches
// (batch-slices.ts); the pool reads and answers larger ones. If the pool has no room, the loop
// reads a small body to find the errors that come before the 503 (3.12).

import {
  type BatchFault,
  batchFaults,
  type InputFault,
  invalidInput,
} from '../../api/input-fault.ts'
import type { Authenticated } from '../../account/keyring.ts'
import {
  type Batch,
  cutBatchBody,
  cutShortForm,
  parseBatchUpTo,
  returnSharedBuffer,
  takeSharedBuffer,
} from '../../pool/batch-body.ts'
import {
  loopAddressesMax,
  loopBodyBytesMax,
  refusedInlineBytesMax,
} from '../../pool/offload-policy.ts'
import type { Ticket } from '../../pool/pool.ts'
import type { ChosenPolicy } from '../../model/policy-form.ts'
import { allowedPolicies, spendBatchRate, takePolicy } from './authorize.ts'
import { chargeThen, judgeThen } from './charge-quota.ts'
import { addAnswerCounts } from '../../observe/request-counters.ts'
import { type Exchange, exchangeStates } from '../exchange/exchange.ts'
import { enqueueBatch } from './batch-slices.ts'
import { tryEnterPool, onPoolResult } from './pool-request.ts'
import { observeAnswers, wantedFacts } from '../reply/observe-answers.ts'
import { replyError } from '../reply/reply.ts'
import { piecesAhead, streamJson } from '../reply/response-stream.ts'

const before = '{"results":['
const after = ']}'

export function answerBatch(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  const allowed = allowedPolicies(exchange, key)
  if (body.length <= loopBodyBytesMax) {
    const batch = parseBatchUpTo(loopAddressesMax, body, allowed)
    if (batch !== undefined) {
      answerOnLoop(exchange, key, batch)
      return
    }
  }
  const { bodyBudget } = exchange.service
  const ticket = tryEnterPool(exchange)
  // Copied: the body is dead after this call.
  const copy = ticket === undefined ? undefined : bodyBudget.copyToShared(key.keyId, body)
  if (ticket === undefined || copy === undefined) {
    refuse(exchange, key, body)
    return
  }
  const run = trackRuns(exchange, ticket.run, () => bodyBudget.releaseShared(key.keyId, copy))
  const result = run({ kind: 'read', body: copy, allowed })
  onPoolResult(exchange, { result, kind: 'read' }, (read) => {
    const { cuts, rewritten } = read
    const fault = faultOf(exchange, key, read)
    if (fault !== undefined) {
      replyError(exchange, invalidInput, fault)
      return
    }
    const { member: param, count, valid, named } = read
    spendBatchRate(exchange, key, { count, param }, () => {
      exchange.units = valid
      // Copied: a view of plain memory crosses to a thread with its whole buffer.
      const pieceOf = (index: number): Uint8Array =>
        rewritten === undefined
          ? copy.subarray(cuts[index], cuts[index + 1])
          : rewritten.slice(cuts[index], cuts[index + 1])
      const count = cuts.length - 1
      const { itemPolicy } = exchange.service.policies
      const policy = itemPolicy(key, exchange.policy)
      const policies = new Map(named.map((name) => [name, itemPolicy(key, name)]))
      const pieces = { pieceOf, count, policy, policies }
      chargeThen(exchange, key, () => streamPieces(exchange, run, pieces))
    })
  })
}

function faultOf(
  exchange: Exchange,
  key: Authenticated,
  { fault, policy }: Pick<ReadBatch, 'fault' | 'policy'>,
): InputFault | undefined {
  exchange.policy = ''
  if (fault !== undefined) return batchFaults[fault]
  return policy === undefined ? undefined : takePolicy(exchange, key, policy)
}

type ReadBatch = ReturnType<typeof cutBatchBody>
type RunItem = Ticket['run']

/**
 * Runs items of an exchange. Calls `free` once the exchange is over and none of them runs any more:
 * a thread may still use the memory of an item whose exchange was cut off.
 */
function trackRuns(exchange: Exchange, runItem: RunItem, free: () => void): RunItem {
  let underWay = 0
  let over = false
  const freeWhenIdle = (): void => {
    if (over && underWay === 0) free()
  }
  const { onEnd } = exchange
  exchange.onEnd = () => {
    onEnd?.()
    over = true
    freeWhenIdle()
  }
  return (item) => {
    underWay += 1
    return runItem(item).finally(() => {
      underWay -= 1
      freeWhenIdle()
    })
  }
}

/** Answers the first error of the body, otherwise 503, and refunds its charge. */
function refuse(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  const read =
    body.length <= refusedInlineBytesMax
      ? cutBatchBody(body, allowedPolicies(exchange, key))
      : cutShortForm(body)
  if (read === undefined) {
    replyError(exchange, 'upstream_unavailable')
    return
  }
  const fault = faultOf(exchange, key, read)
  if (fault !== undefined) {
    replyError(exchange, invalidInput, fault)
    return
  }
  const { member: param, count, valid } = read
  spendBatchRate(exchange, key, { count, param }, () => {
    exchange.units = valid
    chargeThen(exchange, key, () => replyError(exchange, 'upstream_unavailable'))
  })
}

/** It has at most as many elements as the loop may answer. */
function answerOnLoop(exchange: Exchange, key: Authenticated, batch: Batch | BatchFault): void {
  const read = typeof batch === 'string' ? { fault: batch } : { fault: undefined, ...batch }
  const fault = faultOf(exchange, key, read)
  if (fault !== undefined || typeof batch === 'string') {
    replyError(exchange, invalidInput, fault)
    return
  }
  const { member, checks, valid } = batch
  spendBatchRate(exchange, key, { count: checks.length, param: member }, () => {
    exchange.units = valid
    const contexts = checks.map((check) => (typeof check === 'string' ? undefined : check.context))
    const answer = (): void => enqueueBatch(exchange, checks)
    chargeThen(exchange, key, () => judgeThen(exchange, contexts, answer))
  })
}

interface BatchPieces {
  readonly pieceOf: (index: number) => Uint8Array
  readonly count: number
  readonly policy: ChosenPolicy | undefined
  /** For elements that name one. */
  readonly policies: ReadonlyMap<string, ChosenPolicy | undefined>
}

/** The first byte goes out with the first piece: any error can be answered until then. */
function streamPieces(exchange: Exchange, runItem: RunItem, pieces: BatchPieces): void {
  const { pieceOf, count, policy, policies } = pieces
  const { asked } = exchange
  const { counters } = exchange.service
  const buffers = Array.from({ length: piecesAhead }, takeSharedBuffer)
  const run = trackRuns(exchange, runItem, () => buffers.forEach(returnSharedBuffer))
  const ask = (index: number, give: (json: Uint8Array) => void): void => {
    const into = buffers[index % piecesAhead]!
    const facts = wantedFacts(exchange)
    const texts = pieceOf(index)
    const result = run({ kind: 'checks', texts, into, policy, policies, facts, asked })
    onPoolResult(exchange, { result, kind: 'answered' }, ({ json, answers, facts }) => {
      addAnswerCounts(counters, answers)
      observeAnswers(exchange, facts, policy?.revision)
      give(json)
    })
  }
  ask(0, (first) => {
    if (exchange.state !== exchangeStates.open) return
    streamJson(exchange, {
      count,
      ask: (index, give) => (index === 0 ? give(first) : ask(index, give)),
      before,
      between: ',',
      after,
    })
  })
}
