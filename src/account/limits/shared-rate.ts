// A worker's side of rate limits that many machines share: it spends the machine's balance
// (local-balance.ts) and has it filled up from the store (shared-bucket.ts) in the background, below half of what
// the machine keeps ahead. A check never waits: with no balance left a request is refused, or, while the
// store is away, judged as the policy says.
//
//   admit ─▶ balance left? ─yes─▶ granted        (below half: ask in the background)
//              │no
//              ├─▶ the store is there ─▶ exceeded; a batch: pending ─▶ ask for all that it needs
//              ├─▶ it is away, policy "refuse" ─▶ unavailable
//              └─▶ it is away, policy "serve" ─▶ the machine's own limit: the whole rate (rate.ts)
//
// The machine's own limit is a slot of GCRA that each answer of the store sets to the level of the
// bucket: it is also what `remaining` reads. So it begins where the store has ended.

import { rateRefillGapMs, rateIdleMs, rateLeaseMs } from '../../base/limits.ts'
import type { Allowance, SharedRate } from './allowance.ts'
import {
  type BalanceWords,
  applyRefill,
  claimRefill,
  spendBalance,
  reclaimBalance,
} from './local-balance.ts'
import { noBalance } from './local-balance.ts'
import { type SharedBuckets, sharedBucketSizes } from './shared-bucket.ts'
import { type RateResult, rateResults } from './limiter.ts'
import { aheadTicks, takeRate, ticksAt } from './rate.ts'

export interface SharedRateState {
  readonly flow: SharedBuckets
  readonly memory: BalanceWords
  readonly policy: 'serve' | 'refuse'
  readonly machineOffsetMs: number
  readonly now: () => number
  /** The machine's clock. */
  readonly clock: () => number
  readonly onTrouble: (error: unknown) => void
  readonly onRecovery: () => void
  /** Keys that have been used lately. */
  readonly active: Set<Allowance>
}

export function newSharedRate(
  key: Allowance,
  balanceIndex: number,
  localIndex: number,
): SharedRate | undefined {
  const { pace } = key
  const { rate } = key.limits
  if (rate === undefined || pace === undefined) return undefined
  const sizes = sharedBucketSizes(rate)
  const refillBelow = Math.ceil(sizes.ahead / 2)
  const idle = { idleBalance: noBalance, idleMs: 0 }
  return { rate, pace, sizes, balanceIndex, localIndex, refillBelow, failed: false, ...idle }
}

const { granted, exceeded, unavailable, pending } = rateResults

/** Spends rate: `requests` at once or none. */
export function spendSharedRate(
  book: SharedRateState,
  key: Allowance,
  share: SharedRate,
  requests: number,
  nowMs: number,
): RateResult {
  const left = spendBalance(book.memory.words, share.balanceIndex, requests, share.sizes.credit)
  if (left >= share.refillBelow) return granted
  if (left === noBalance) return spendWithoutBalance(book, key, share, requests, nowMs)
  if (!book.flow.down()) requestRefill(book, key, share, nowMs)
  return granted
}

function spendWithoutBalance(
  book: SharedRateState,
  key: Allowance,
  share: SharedRate,
  requests: number,
  nowMs: number,
): RateResult {
  if (!book.flow.down()) {
    if (requests > 1) return requests > share.rate.burst ? exceeded : pending
    requestRefill(book, key, share, nowMs)
    if (!share.failed) return exceeded
  }
  return spendWhileStoreDown(book, share, requests, nowMs)
}

/** The store is away: what the policy says. */
function spendWhileStoreDown(
  book: SharedRateState,
  share: SharedRate,
  requests: number,
  nowMs: number,
): RateResult {
  if (book.policy === 'refuse') return unavailable
  const { pace } = share
  const atTicks = ticksAt(nowMs + book.machineOffsetMs, pace)
  return takeRate(book.memory.words, share.localIndex, pace, atTicks, requests, book.clock)
    ? granted
    : exceeded
}

/**
 * A batch takes what it needs from the bucket itself. What the machine keeps ahead goes back before,
 * or a batch as large as the burst would never fit; what it had asked for may come meanwhile, and be
 * missing there: then once more.
 */
export async function spendSharedBatch(
  book: SharedRateState,
  key: Allowance,
  share: SharedRate,
  requests: number,
): Promise<RateResult> {
  try {
    return await takeBatch(book, key.keyId, share, requests)
  } catch (error) {
    share.failed = true
    book.active.add(key)
    book.onTrouble(error)
    return spendWhileStoreDown(book, share, requests, book.now())
  }
}

async function takeBatch(
  book: SharedRateState,
  keyId: string,
  share: SharedRate,
  requests: number,
): Promise<RateResult> {
  const { words } = book.memory
  const wanted = { keyId, rate: share.rate, want: requests, need: requests }
  for (let tries = 0; tries < 2; tries += 1) {
    const units = reclaimBalance(words, share.balanceIndex, Atomics.load(words, share.balanceIndex))
    returnTokens(book, keyId, share, units)
    const taking = await book.flow.takeTokens(wanted)
    syncLocalLimit(book, share, taking.level)
    if (taking.granted === requests) return granted
    if (Atomics.load(words, share.balanceIndex) <= 0) break
  }
  return exceeded
}

function returnTokens(
  book: SharedRateState,
  keyId: string,
  share: SharedRate,
  units: number,
): void {
  if (units === 0) return
  const back = { keyId, rate: share.rate, want: -units, need: 0 }
  book.flow.takeTokens(back).catch((error: unknown) => book.onTrouble(error))
}

/** Asks the store in the background, unless somebody on this machine does or has just done so. */
function requestRefill(
  book: SharedRateState,
  key: Allowance,
  share: SharedRate,
  nowMs: number,
): void {
  const { words } = book.memory
  const claim = claimRefill(words, share.balanceIndex, nowMs + book.machineOffsetMs)
  if (claim === 0) return
  book.active.add(key)
  void refill(book, key, share, claim).catch((error: unknown) => book.onTrouble(error))
}

async function refill(
  book: SharedRateState,
  key: Allowance,
  share: SharedRate,
  claim: number,
): Promise<void> {
  const { flow: buckets, memory, now, machineOffsetMs } = book
  const { keyId } = key
  const { rate } = share
  const most = share.sizes.ahead
  const want = Math.max(0, most - Atomics.load(memory.words, share.balanceIndex))
  const enter = (granted: number, pauseMs: number): void => {
    const machineMs = now() + machineOffsetMs
    applyRefill(memory, share.balanceIndex, { claim, granted, most, machineMs, pauseMs })
  }
  try {
    const taking = await buckets.takeTokens({ keyId, rate, want, need: 0 })
    enter(taking.granted, taking.granted < want ? refillPauseMs(share, rate.perSecond) : 0)
    syncLocalLimit(book, share, taking.level)
  } catch (error) {
    share.failed = true
    enter(0, pauseMsMax)
    throw error
  }
  // Spent while it came: a burst is under way, and would soon find nothing.
  if (Atomics.load(memory.words, share.balanceIndex) < share.refillBelow)
    requestRefill(book, key, share, now())
}

/** The store has answered: the machine's own limit is where the bucket is. */
function syncLocalLimit(book: SharedRateState, share: SharedRate, level: number): void {
  const { memory, now, machineOffsetMs, onRecovery } = book
  const { pace } = share
  if (share.failed) onRecovery()
  share.failed = false
  const ahead = Math.min(Math.ceil(level * pace.requestTicks), pace.burstTicks)
  const nowTicks = ticksAt(now() + machineOffsetMs, pace)
  Atomics.store(memory.words, share.localIndex, (nowTicks + ahead) | 0)
}

/** Five takings come in the time for which a bucket is never too small. */
const pauseMsMax = rateLeaseMs / 5

/** The bucket is empty: until an eighth of a lease has come, but soon. */
function refillPauseMs({ sizes }: SharedRate, perSecond: number): number {
  const eighthMs = (sizes.ahead / 8 / perSecond) * 1000
  return Math.min(Math.max(eighthMs, rateRefillGapMs), pauseMsMax)
}

/** What a tick does: debts are paid, and what nobody spends goes back. */
export function tickSharedRates(book: SharedRateState): void {
  const nowMs = book.now()
  const away = book.flow.down()
  for (const key of book.active) {
    const { share } = key
    if (share === undefined) book.active.delete(key)
    else if (!away) maintainSharedRate(book, key, share, nowMs)
  }
}

function maintainSharedRate(
  book: SharedRateState,
  key: Allowance,
  share: SharedRate,
  nowMs: number,
): void {
  const balance = Atomics.load(book.memory.words, share.balanceIndex)
  // A store that has failed is asked until it answers, though no request comes.
  if (balance < 0 || share.failed) requestRefill(book, key, share, nowMs)
  if (balance !== share.idleBalance) {
    share.idleBalance = balance
    share.idleMs = nowMs
    return
  }
  if (nowMs - share.idleMs < rateIdleMs) return
  if (balance >= 0 && !share.failed) book.active.delete(key)
  returnTokens(
    book,
    key.keyId,
    share,
    reclaimBalance(book.memory.words, share.balanceIndex, balance),
  )
}

/** Ticks that the limit lies ahead of now, as `aheadTicks` of one machine's own. */
export function sharedAheadTicks(book: SharedRateState, share: SharedRate, nowMs: number): number {
  const { pace } = share
  const { words } = book.memory
  const ahead = aheadTicks(
    words,
    share.localIndex,
    pace,
    ticksAt(nowMs + book.machineOffsetMs, pace),
  )
  const balance = Atomics.load(words, share.balanceIndex)
  return Math.min(Math.max(0, ahead - balance * pace.requestTicks), pace.burstTicks)
}
