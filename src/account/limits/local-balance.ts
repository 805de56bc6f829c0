// Hot path: `spendBalance`. No allocation, throw, closure or clock there.
//
// A machine's balance of a shared rate limit (shared-bucket.ts): what it took from the store minus
// what it spent, in memory of all its workers. Two words:
//
//   balance   requests; from -credit to `ahead`
//   ask       0, or an instant (ms of the machine's clock, modulo 2^32) before which no worker asks
//
// The asking worker moves `ask` past the time in which an answer counts, so a machine has one
// refill in flight. It books the answer by one compare-and-swap of both words, which fails if `ask`
// has changed. A worker that dies loses its refill; the next one asks after that time.
//
// Mixing 32-bit and 64-bit compare-and-swaps is outside JavaScript's memory model, but single
// instructions on x86-64 and ARM64; a test with several processes checks it.

import { rateAnswerMsMax } from '../../base/limits.ts'

export type BalanceWords = ReturnType<typeof balanceWords>

export function balanceWords(words: Int32Array) {
  const { buffer, byteOffset, length } = words
  return { words, pairs: new BigInt64Array(buffer, byteOffset, length >> 1) }
}

/** Spends `count` if the balance stays at `-credit` or above; returns the rest, or `noBalance`. */
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

/** How old a process's clock reading may be; `ask` is never further ahead. */
const clockAgeMsMax = 60_000

/** No worker is asking, and no pause is set. */
function mayAsk(ask: number, nowMs: number): boolean {
  const ahead = (ask - nowMs) | 0
  // Further ahead: it wrapped around, or is of an unknown clock.
  return ask === 0 || ahead <= 0 || ahead > rateAnswerMsMax + clockAgeMsMax
}

/** The claim that books the answer, or 0. */
export function claimRefill(words: Int32Array, index: number, machineMs: number): number {
  const nowMs = Math.floor(machineMs) | 0
  const kept = Atomics.load(words, index + 1)
  if (!mayAsk(kept, nowMs)) return 0
  const claim = (nowMs + rateAnswerMsMax) | 0 || 1
  return Atomics.compareExchange(words, index + 1, kept, claim) === kept ? claim : 0
}

/**
 * Adds a grant, up to `most`, and allows the next one after `pauseMs`; false if the answer came too
 * late.
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

/** Takes back an idle balance if it is still `seen`; returns it, or 0. */
export function reclaimBalance(words: Int32Array, index: number, seen: number): number {
  if (seen <= 0) return 0
  return Atomics.compareExchange(words, index, seen, 0) === seen ? seen : 0
}
