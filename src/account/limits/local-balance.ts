// Hot path: `spendBalance`. No allocation, throw, closure or clock there.
//
// A machine's balance of a rate limit that many machines share (shared-bucket.ts): what it has
// taken from the store less what it has spent, in memory that its workers share. Two words:
//
//   balance   requests; from -credit to `ahead`
//   ask       0, or an instant (ms of the machine's clock, modulo 2^32) before which no worker asks
//
// The worker that asks the store moves `ask` ahead by a compare-and-swap, past the time in which an
// answer counts: so a machine has one refill under way. It books the answer by one compare-and-swap
// of both words, which fails unless `ask` is still what this worker wrote. A worker that dies while
// it asks loses its refill; the next one asks when the time has passed.
//
// Mixing compare-and-swaps of 32 and 64 bits on the same words is outside JavaScript's memory
// model. On x86-64 and ARM64 both are single instructions; a test with several processes holds it.

import { rateAnswerMsMax } from '../../base/limits.ts'

export type BalanceWords = ReturnType<typeof balanceWords>

export function balanceWords(words: Int32Array) {
  const { buffer, byteOffset, length } = words
  return { words, pairs: new BigInt64Array(buffer, byteOffset, length >> 1) }
}

/** Takes `count` where the balance stays at `-credit` or above; what is left, or `noBalance`. */
export function spendBalance(
  words: Int32Array,
  index: number,
  count: number,
  credit: number,
): number {
  for (;;) {
    const balance = Atomics.load(words, index)
    const next = balance - count
    if (next < -credit) return noBalance
    if (Atomics.compareExchange(words, index, balance, next) === balance) return next
  }
}

export const noBalance = -0x8000_0000

/**
 * A process may have been stopped this long since it read the clock; `ask` is never further ahead.
 */
const clockAgeMsMax = 60_000

/** Whether a worker may ask at that instant: none is asking, and no pause is set. */
function mayAsk(ask: number, nowMs: number): boolean {
  const ahead = (ask - nowMs) | 0
  // One that lies further ahead has come round, or is of an unknown clock.
  return ask === 0 || ahead <= 0 || ahead > rateAnswerMsMax + clockAgeMsMax
}

/** The right to ask: the word that books the answer, or 0. */
export function claimRefill(words: Int32Array, index: number, machineMs: number): number {
  const nowMs = Math.floor(machineMs) | 0
  const kept = Atomics.load(words, index + 1)
  if (!mayAsk(kept, nowMs)) return 0
  const claim = (nowMs + rateAnswerMsMax) | 0 || 1
  return Atomics.compareExchange(words, index + 1, kept, claim) === kept ? claim : 0
}

/**
 * Adds what was granted, up to `most`, and lets the next one ask after `pauseMs`; whether the
 * answer still counted.
 */
export function applyRefill(
  { words, pairs }: BalanceWords,
  index: number,
  answer: {
    readonly claim: number
    readonly granted: number
    readonly most: number
    readonly machineMs: number
    readonly pauseMs: number
  },
): boolean {
  const { claim, granted, most, machineMs, pauseMs } = answer
  const ask = Math.floor(machineMs + pauseMs) | 0
  for (;;) {
    const balance = Atomics.load(words, index)
    const after = Math.max(balance, Math.min(balance + granted, most))
    const before = pairOf(balance, claim)
    const found = Atomics.compareExchange(pairs, index >> 1, before, pairOf(after, ask))
    if (found === before) return true
    if (Number(found >> 32n) !== claim) return false
  }
}

function pairOf(low: number, high: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low >>> 0)
}

/** Takes an idle balance back if it is still `seen`; returns what it was, or 0. */
export function reclaimBalance(words: Int32Array, index: number, seen: number): number {
  if (seen <= 0) return 0
  return Atomics.compareExchange(words, index, seen, 0) === seen ? seen : 0
}
