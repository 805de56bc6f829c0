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

import { rateAskMs, rateIdleMs, rateLeaseMs } from '../../base/limits.ts'
import type { Allowance, Share } from './allowance.ts'
import { type BalanceWords, bookAnswer, claimAsk, spendBalance, takeBack } from './local-balance.ts'
import { noBalance } from './local-balance.ts'
import { type Flow, flowSizes } from './shared-bucket.ts'
import { type AdmitResult, admitResults } from './limiter.ts'
import { aheadTicks, takeRate, ticksAt } from './rate.ts'

export interface ShareBook {
  readonly flow: Flow
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

export function newShare(key: Allowance, index: number, localIndex: number): Share | undefined {
  const { pace } = key
  const { rate } = key.limits
  if (rate === undefined || pace === undefined) return undefined
  const sizes = flowSizes(rate)
  const low = Math.ceil(sizes.ahead / 2)
  const idle = { idleBalance: noBalance, idleMs: 0 }
  return { rate, pace, sizes, index, localIndex, low, failed: false, ...idle }
}

const { granted, exceeded, unavailable, pending } = admitResults

/** Spends rate: `requests` at once or none. */
export function spendShare(
  book: ShareBook,
  key: Allowance,
  share: Share,
  requests: number,
  nowMs: number,
): AdmitResult {
  const left = spendBalance(book.memory.words, share.index, requests, share.sizes.credit)
  if (left >= share.low) return granted
  if (left === noBalance) return spendShort(book, key, share, requests, nowMs)
  if (!book.flow.down()) ask(book, key, share, nowMs)
  return granted
}

function spendShort(
  book: ShareBook,
  key: Allowance,
  share: Share,
  requests: number,
  nowMs: number,
): AdmitResult {
  if (!book.flow.down()) {
    if (requests > 1) return requests > share.rate.burst ? exceeded : pending
    ask(book, key, share, nowMs)
    if (!share.failed) return exceeded
  }
  return spendAway(book, share, requests, nowMs)
}

/** The store is away: what the policy says. */
function spendAway(book: ShareBook, share: Share, requests: number, nowMs: number): AdmitResult {
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
export async function spendLater(
  book: ShareBook,
  key: Allowance,
  share: Share,
  requests: number,
): Promise<AdmitResult> {
  try {
    return await takeBatch(book, key.keyId, share, requests)
  } catch (error) {
    share.failed = true
    book.active.add(key)
    book.onTrouble(error)
    return spendAway(book, share, requests, book.now())
  }
}

async function takeBatch(
  book: ShareBook,
  keyId: string,
  share: Share,
  requests: number,
): Promise<AdmitResult> {
  const { words } = book.memory
  const wanted = { keyId, rate: share.rate, want: requests, need: requests }
  for (let tries = 0; tries < 2; tries += 1) {
    const units = takeBack(words, share.index, Atomics.load(words, share.index))
    giveBack(book, keyId, share, units)
    const taking = await book.flow.take(wanted)
    heard(book, share, taking.level)
    if (taking.granted === requests) return granted
    if (Atomics.load(words, share.index) <= 0) break
  }
  return exceeded
}

function giveBack(book: ShareBook, keyId: string, share: Share, units: number): void {
  if (units === 0) return
  const back = { keyId, rate: share.rate, want: -units, need: 0 }
  book.flow.take(back).catch((error: unknown) => book.onTrouble(error))
}

/** Asks the store in the background, unless somebody on this machine does or has just done so. */
function ask(book: ShareBook, key: Allowance, share: Share, nowMs: number): void {
  const { words } = book.memory
  const claim = claimAsk(words, share.index, nowMs + book.machineOffsetMs)
  if (claim === 0) return
  book.active.add(key)
  void take(book, key, share, claim).catch((error: unknown) => book.onTrouble(error))
}

async function take(book: ShareBook, key: Allowance, share: Share, claim: number): Promise<void> {
  const { flow, memory, now, machineOffsetMs } = book
  const { keyId } = key
  const { rate } = share
  const most = share.sizes.ahead
  const want = Math.max(0, most - Atomics.load(memory.words, share.index))
  const enter = (granted: number, pauseMs: number): void => {
    const machineMs = now() + machineOffsetMs
    bookAnswer(memory, share.index, { claim, granted, most, machineMs, pauseMs })
  }
  try {
    const taking = await flow.take({ keyId, rate, want, need: 0 })
    enter(taking.granted, taking.granted < want ? pauseOf(share, rate.perSecond) : 0)
    heard(book, share, taking.level)
  } catch (error) {
    share.failed = true
    enter(0, pauseMsMax)
    throw error
  }
  // Spent while it came: a burst is under way, and would soon find nothing.
  if (Atomics.load(memory.words, share.index) < share.low) ask(book, key, share, now())
}

/** The store has answered: the machine's own limit is where the bucket is. */
function heard(book: ShareBook, share: Share, level: number): void {
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
function pauseOf({ sizes }: Share, perSecond: number): number {
  const eighthMs = (sizes.ahead / 8 / perSecond) * 1000
  return Math.min(Math.max(eighthMs, rateAskMs), pauseMsMax)
}

/** What a tick does: debts are paid, and what nobody spends goes back. */
export function tickShares(book: ShareBook): void {
  const nowMs = book.now()
  const away = book.flow.down()
  for (const key of book.active) {
    const { share } = key
    if (share === undefined) book.active.delete(key)
    else if (!away) lookAfterShare(book, key, share, nowMs)
  }
}

function lookAfterShare(book: ShareBook, key: Allowance, share: Share, nowMs: number): void {
  const balance = Atomics.load(book.memory.words, share.index)
  // A store that has failed is asked until it answers, though no request comes.
  if (balance < 0 || share.failed) ask(book, key, share, nowMs)
  if (balance !== share.idleBalance) {
    share.idleBalance = balance
    share.idleMs = nowMs
    return
  }
  if (nowMs - share.idleMs < rateIdleMs) return
  if (balance >= 0 && !share.failed) book.active.delete(key)
  giveBack(book, key.keyId, share, takeBack(book.memory.words, share.index, balance))
}

/** Ticks that the limit lies ahead of now, as `aheadTicks` of one machine's own. */
export function shareAhead(book: ShareBook, share: Share, nowMs: number): number {
  const { pace } = share
  const { words } = book.memory
  const ahead = aheadTicks(
    words,
    share.localIndex,
    pace,
    ticksAt(nowMs + book.machineOffsetMs, pace),
  )
  const balance = Atomics.load(words, share.index)
  return Math.min(Math.max(0, ahead - balance * pace.requestTicks), pace.burstTicks)
}
