// A worker's side of rate limits that many machines share: it spends the machine's balance
// (balance.ts) and has it filled up from the store (flow.ts) in the background, below half of what
// the machine keeps ahead. It never waits: with no balance left a request is refused, or, while the
// store is away, judged as the policy says.
//
//   admit ─▶ balance left? ─yes─▶ granted        (below half: ask in the background)
//              │no
//              ├─▶ the store is there ─▶ exceeded
//              ├─▶ it is away, policy "refuse" ─▶ unavailable
//              └─▶ it is away, policy "serve" ─▶ the machine's own limit: the whole rate (rate.ts)
//
// The machine's own limit is a slot of GCRA that each answer of the store sets to the level of the
// bucket: it is also what `remaining` reads. So it begins where the store has ended.

import { rateAskMs, rateIdleMs, rateLeaseMs } from '../base/limits.ts'
import type { Allowance, Share } from './allowance.ts'
import { type BalanceWords, bookAnswer, claimAsk, spendBalance, takeBack } from './balance.ts'
import { noBalance } from './balance.ts'
import { type Flow, flowSizes } from './flow.ts'
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
  return { rate, pace, sizes, index, localIndex, low, need: 0, failed: false, ...idle }
}

export const shareResults = { granted: 0, exceeded: 1, unavailable: 2 } as const
export type ShareResult = (typeof shareResults)[keyof typeof shareResults]

/** Spends rate: `requests` at once or none. */
export function spendShare(
  book: ShareBook,
  key: Allowance,
  share: Share,
  requests: number,
  arrivedMs: number,
): ShareResult {
  const left = spendBalance(book.memory.words, share.index, requests, share.sizes.credit)
  if (left >= share.low) return shareResults.granted
  if (left === noBalance) return spendShort(book, key, share, requests, arrivedMs)
  if (!book.flow.down()) ask(book, key, share, arrivedMs)
  return shareResults.granted
}

function spendShort(
  book: ShareBook,
  key: Allowance,
  share: Share,
  requests: number,
  arrivedMs: number,
): ShareResult {
  const { sizes } = share
  if (!book.flow.down()) {
    // A batch for which the usual lease is too small finds what it needs when it comes again.
    if (requests > sizes.ahead + sizes.credit && requests <= sizes.capacity) share.need = requests
    ask(book, key, share, arrivedMs)
    if (!share.failed) return shareResults.exceeded
  }
  if (book.policy === 'refuse') return shareResults.unavailable
  const { pace } = share
  const atTicks = ticksAt(arrivedMs + book.machineOffsetMs, pace)
  return takeRate(book.memory.words, share.localIndex, pace, atTicks, requests, book.clock)
    ? shareResults.granted
    : shareResults.exceeded
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
  const { rate, pace } = share
  const most = Math.max(share.sizes.ahead, share.need)
  const want = Math.max(0, most - Atomics.load(memory.words, share.index))
  const taking = await flow.take({ keyId, rate, want }).catch((error: unknown) => {
    share.failed = true
    const machineMs = now() + machineOffsetMs
    const pauseMs = pauseMsMax
    bookAnswer(memory, share.index, { claim, granted: 0, most, machineMs, pauseMs })
    throw error
  })
  share.failed = false
  const machineMs = now() + machineOffsetMs
  const pauseMs = taking.granted < want ? pauseOf(share, rate.perSecond) : 0
  const { granted, level } = taking
  bookAnswer(memory, share.index, { claim, granted, most, machineMs, pauseMs })
  // Spent while it came: a burst is under way, and would soon find nothing.
  if (Atomics.load(memory.words, share.index) < share.low) ask(book, key, share, now())
  const ahead = Math.min(Math.ceil(level * pace.requestTicks), pace.burstTicks)
  Atomics.store(memory.words, share.localIndex, (ticksAt(machineMs, pace) + ahead) | 0)
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
  if (balance < 0) ask(book, key, share, nowMs)
  if (balance !== share.idleBalance) {
    share.idleBalance = balance
    share.idleMs = nowMs
    return
  }
  if (nowMs - share.idleMs < rateIdleMs) return
  share.need = 0
  if (balance >= 0) book.active.delete(key)
  const units = takeBack(book.memory.words, share.index, balance)
  if (units === 0) return
  book.flow.take({ keyId: key.keyId, rate: share.rate, want: -units }).catch((error: unknown) => {
    book.onTrouble(error)
  })
}

/** Ticks that the limit lies ahead of now, as `aheadTicks` of one machine's own. */
export function shareAhead(book: ShareBook, share: Share, nowMs: number): number {
  const { pace } = share
  const { words } = book.memory
  const ahead = aheadTicks(words, share.localIndex, pace, nowMs + book.machineOffsetMs)
  const balance = Atomics.load(words, share.index)
  return Math.min(Math.max(0, ahead - balance * pace.requestTicks), pace.burstTicks)
}
