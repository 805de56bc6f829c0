// POST /v1/intelligence/ip-risk/check/batch (contract 3.16): many addresses, answered in order,
// each byte for byte like a single check. The loop answers small batches; the pool reads and
// answers larger ones. Without room in the pool, the loop reads a small body to find the errors
// that come before the 503 (3.12).

import { type InputFault, batchFaults, invalidInput } from '../../api/input-fault.ts'
import type { Authenticated } from '../../account/keyring.ts'
import {
  batchPolicyOf,
  countAddresses,
  cutBatchBody,
  cutShortForm,
  parseBatchBody,
  returnSharedBuffer,
  takeSharedBuffer,
} from '../../pool/batch-body.ts'
import { batchInlineBytesMax, refusedInlineBytesMax } from '../../pool/offload-policy.ts'
import type { Ticket } from '../../pool/pool.ts'
import type { ChosenPolicy } from '../../model/policy-form.ts'
import { decideQuery } from '../../policy/decision-memory.ts'
import { chosenPolicyIndex } from '../../policy/policy.ts'
import type { Table } from '../../table/table.ts'
import { spendBatchRate, takePolicy } from './authorize.ts'
import type { Decide } from '../../policy/decide-by.ts'
import { answerTexts } from '../../pool/run-task.ts'
import { chargeThen } from './charge-quota.ts'
import { addAnswerCounts } from '../../observe/request-counters.ts'
import { type Exchange, exchangeStates } from '../exchange/exchange.ts'
import { tryEnterPool, onPoolResult } from './pool-request.ts'
import { observeAnswers, wantedFacts } from '../reply/observe-answers.ts'
import { replyError, replyJson } from '../reply/reply.ts'
import { piecesAhead, streamJson } from '../reply/response-stream.ts'

const before = '{"results":['
const after = ']}'
/** One small batch's answers; sent before the next batch is answered. */
const answerBytes = new Uint8Array(1 << 17)

export function answerBatch(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  if (body.length <= batchInlineBytesMax && !exchange.service.policies.isHeavy()) {
    answerOnLoop(exchange, key, body)
    return
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
  const result = run({ kind: 'read', body: copy })
  onPoolResult(exchange, { result, kind: 'read' }, (read) => {
    const { count, valid, cuts, rewritten } = read
    const fault = faultOf(exchange, key, read)
    if (fault !== undefined) {
      replyError(exchange, invalidInput, fault)
      return
    }
    spendBatchRate(exchange, key, count, () => {
      exchange.units = valid
      // Copied: a view of plain memory crosses to a thread with its whole buffer.
      const pieceOf = (index: number): Uint8Array =>
        rewritten === undefined
          ? copy.subarray(cuts[index], cuts[index + 1])
          : rewritten.slice(cuts[index], cuts[index + 1])
      const count = cuts.length - 1
      const policy = exchange.service.policies.itemPolicy(key, exchange.policy)
      chargeThen(exchange, key, () => streamPieces(exchange, run, { pieceOf, count, policy }))
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
 * Runs items of an exchange. Calls `free` when the exchange is over and none of them runs any more:
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

/** Answers the first error of the body, else 503, whose charge is given back. */
function refuse(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  const read = body.length <= refusedInlineBytesMax ? cutBatchBody(body) : cutShortForm(body)
  if (read === undefined) {
    replyError(exchange, 'upstream_unavailable')
    return
  }
  const fault = faultOf(exchange, key, read)
  if (fault !== undefined) {
    replyError(exchange, invalidInput, fault)
    return
  }
  spendBatchRate(exchange, key, read.count, () => {
    exchange.units = read.valid
    chargeThen(exchange, key, () => replyError(exchange, 'upstream_unavailable'))
  })
}

function answerOnLoop(exchange: Exchange, key: Authenticated, body: Uint8Array): void {
  const texts = parseBatchBody(body)
  const bad = typeof texts === 'string' ? texts : undefined
  const { policies } = exchange.service
  const policy = policies.set() === undefined ? undefined : batchPolicyOf(body)
  const fault = faultOf(exchange, key, { fault: bad, policy })
  if (fault !== undefined || typeof texts === 'string') {
    replyError(exchange, invalidInput, fault)
    return
  }
  spendBatchRate(exchange, key, texts.length, () => {
    exchange.units = countAddresses(texts)
    chargeThen(exchange, key, () => {
      const table = exchange.service.table()
      if (table === undefined) {
        replyError(exchange, 'upstream_unavailable')
        return
      }
      const { json, answers, facts } = answerTexts(table, texts, {
        into: answerBytes,
        decide: decideOnLoop(exchange, key, table),
        facts: wantedFacts(exchange),
      })
      addAnswerCounts(exchange.service.counters, answers)
      observeAnswers(exchange, facts, exchange.service.policies.set()?.revision)
      const text = Buffer.from(json.buffer, json.byteOffset, json.length).toString()
      replyJson(exchange, before + text + after)
    })
  })
}

/** `undefined` where there are no policies. */
function decideOnLoop(
  { service, policy }: Exchange,
  key: Authenticated,
  table: Table,
): Decide | undefined {
  const memory = service.policies.memoryOf(table)
  if (memory === undefined) return undefined
  const chosen = chosenPolicyIndex(memory.set, key.policies, policy)
  return (query, found) => decideQuery(memory, chosen, query, found)
}

interface BatchPieces {
  readonly pieceOf: (index: number) => Uint8Array
  readonly count: number
  readonly policy: ChosenPolicy | undefined
}

/** The first byte goes out with the first piece: until then any error can be answered. */
function streamPieces(exchange: Exchange, runItem: RunItem, pieces: BatchPieces): void {
  const { pieceOf, count, policy } = pieces
  const { counters } = exchange.service
  const buffers = Array.from({ length: piecesAhead }, takeSharedBuffer)
  const run = trackRuns(exchange, runItem, () => buffers.forEach(returnSharedBuffer))
  const ask = (index: number, give: (json: Uint8Array) => void): void => {
    const into = buffers[index % piecesAhead]!
    const facts = wantedFacts(exchange)
    const result = run({ kind: 'checks', texts: pieceOf(index), into, policy, facts })
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
