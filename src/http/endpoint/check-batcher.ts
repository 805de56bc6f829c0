// Hot path: all but `newCheckBatcher` and `newBatchWithTexts`. No throw or closure there, and no
// allocation except that of setImmediate, one for all checks of a turn.
//
// Answers the checks that arrive in one turn of the loop together, after all of them are read. The
// nearest caches do not hold the code of reading and of answering side by side: request by request,
// each evicted the other. In a batch each is loaded once, addresses are looked up in groups
// (src/table/lookup/lookup-batch.ts), and clients that share a machine are woken once.
//
//   one by one   read answer read answer read answer …
//   a batch      read read read … look up look up look up … answer answer answer …
//
// No check waits for later turns. The callback at the end of the turn costs 5 us, so where turns
// bring few checks each is answered at once, and now and then the checks of one turn are counted.
//
// If checks are answered together, uWebSockets.js (20.0.8) closes a connection that sends
// another request before its check is answered, which clients should not do after a POST (RFC 9112,
// 9.3.2). When a connection has gone before its answer, the next checks are answered at once.
//
// Invariant: no answer makes uWebSockets.js read, so no check joins a batch that is being answered.

import { addressCharsMax } from '../../ip/parse-address.ts'
import type { Query } from '../../table/lookup/query.ts'
import type { LookupBatch } from '../../table/lookup/lookup-batch.ts'
import { lookupBatchMax, newLookupBatch } from '../../table/lookup/lookup-batch.ts'
import type { Located } from '../../table/lookup/locate.ts'
import type { Table } from '../../table/table.ts'
import { type Exchange, exchangeStates } from '../exchange/exchange.ts'
import { replyInternalError } from '../reply/reply.ts'

/** As many events as libuv takes from the kernel at once; further checks are answered at once. */
export const batchedChecksMax = 1024

/**
 * A turn with `batchingStartMin` checks starts batching, one with fewer than `batchingStayMin` ends
 * it.
 */
const batchingStartMin = 4
const batchingStayMin = 2
/** How many checks are answered at once before the next whole turn whose checks are counted. */
const checksBetweenCounts = 64

/** `found`: where `table` has located the address. */
export type AnswerOne = (
  exchange: Exchange,
  query: Query,
  table: Table | undefined,
  found: Located | undefined,
) => void

export interface CheckBatcher {
  readonly answerOne: AnswerOne
  /** The first `count` of them wait; their addresses have the same places in `lookupBatches`. */
  readonly exchanges: (Exchange | undefined)[]
  readonly lookupBatches: LookupBatch[]
  count: number
  /** Otherwise each is answered at once. */
  isBatching: boolean
  /** Since a turn was counted, and in the turn that is being counted. */
  sinceCounted: number
  counted: number
  /** Whether the next turn that brings a check is counted, from its first one on. */
  isCountDue: boolean
  current: number
  table: Table | undefined
  /** Callbacks of the loop and of cork, which take no arguments. */
  readonly answerAll: () => void
  readonly answerCurrent: () => void
  readonly countNext: () => void
  readonly decideBatching: () => void
}

export function newCheckBatcher(answerOne: AnswerOne): CheckBatcher {
  const batcher: CheckBatcher = {
    answerOne,
    exchanges: Array.from<undefined>({ length: batchedChecksMax }),
    lookupBatches: [],
    count: 0,
    isBatching: false,
    sinceCounted: 0,
    counted: 0,
    isCountDue: false,
    current: 0,
    table: undefined,
    answerAll: () => answerAll(batcher),
    answerCurrent: () => answerCurrent(batcher),
    countNext: () => {
      batcher.isCountDue = true
    },
    decideBatching: () => decideBatching(batcher),
  }
  return batcher
}

/** Answers the exchange, now or with its batch; `query` may change afterwards. */
export function enqueueCheck(batcher: CheckBatcher, exchange: Exchange, query: Query): void {
  const { count, exchanges } = batcher
  if (!batcher.isBatching) countTurn(batcher)
  if (!batcher.isBatching || count === batchedChecksMax) {
    batcher.answerOne(exchange, query, exchange.service.table(), undefined)
    return
  }
  copyQuery(lookupBatchOf(batcher, count).queries[count % lookupBatchMax]!, query)
  exchanges[count] = exchange
  batcher.count = count + 1
  if (count === 0) setImmediate(batcher.answerAll)
}

function countTurn(batcher: CheckBatcher): void {
  if (batcher.counted > 0) {
    batcher.counted += 1
  } else if (batcher.isCountDue) {
    batcher.isCountDue = false
    batcher.counted = 1
    setImmediate(batcher.decideBatching)
  } else if (++batcher.sinceCounted === checksBetweenCounts) {
    batcher.sinceCounted = 0
    setImmediate(batcher.countNext)
  }
}

function decideBatching(batcher: CheckBatcher): void {
  batcher.isBatching = batcher.counted >= batchingStartMin
  batcher.counted = 0
}

function lookupBatchOf({ lookupBatches }: CheckBatcher, place: number): LookupBatch {
  return (lookupBatches[Math.floor(place / lookupBatchMax)] ??= newBatchWithTexts())
}

/** Its queries have room for their own texts, side by side. */
function newBatchWithTexts(): LookupBatch {
  const batch = newLookupBatch()
  const texts = new Uint8Array(lookupBatchMax * addressCharsMax)
  for (const [i, query] of batch.queries.entries()) {
    query.bytes = texts
    query.from = i * addressCharsMax
  }
  return batch
}

/** An address has at most `addressCharsMax` bytes (ip/parse-address.ts); `to` has room for them. */
function copyQuery(to: Query, { bytes, from, to: end, family, words }: Query): void {
  const length = end - from
  for (let i = 0; i < length; i++) to.bytes[to.from + i] = bytes[from + i]!
  to.to = to.from + length
  to.family = family
  for (let i = 0; i < words.length; i++) to.words[i] = words[i]!
}

/** Never throws: it is a callback of the loop. */
function answerAll(batcher: CheckBatcher): void {
  const { count } = batcher
  let gone = 0
  for (let first = 0; first < count; first += lookupBatchMax) {
    const batch = lookupBatchOf(batcher, first)
    batch.count = Math.min(lookupBatchMax, count - first)
    prepare(batcher, batch, first)
    for (let at = first; at < first + batch.count; at++) {
      const exchange = batcher.exchanges[at]!
      batcher.current = at
      if (exchange.state === exchangeStates.open) exchange.res.cork(batcher.answerCurrent)
      else if (exchange.state === exchangeStates.gone) gone += 1
      exchange.recycle()
    }
  }
  batcher.isBatching = count >= batchingStayMin && gone === 0
  batcher.count = 0
  batcher.table = undefined
}

/** Locates the addresses of a lookup batch; all exchanges of a worker share one table. */
function prepare(batcher: CheckBatcher, batch: LookupBatch, first: number): void {
  batcher.table = batcher.exchanges[first]!.service.table()
  try {
    batcher.table?.prepare(batch)
  } catch {
    // Each check throws again by itself and answers its own 500.
    batcher.table = undefined
  }
}

function answerCurrent(batcher: CheckBatcher): void {
  const { answerOne, exchanges, current, table } = batcher
  const exchange = exchanges[current]!
  const batch = lookupBatchOf(batcher, current)
  const i = current % lookupBatchMax
  const newest = exchange.service.table()
  try {
    answerOne(exchange, batch.queries[i]!, newest, newest === table ? batch.located[i]! : undefined)
  } catch (error) {
    replyInternalError(exchange, error)
  }
}
