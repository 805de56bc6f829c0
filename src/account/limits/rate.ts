// Hot path: no allocation, throw, closure, BigInt or regular expression below.
//
// A rate limit as one number shared by all workers: GCRA (ITU-T I.371), a token bucket without
// refill. A slot holds the instant at which its bucket is full again; a request moves it ahead by
// one request's time, and is refused if it would be further ahead than the whole burst.
//
//   50/s, burst 100, just used up      now ├──────── 100 × 20 ms ────────┤ slot
//   20 ms later one request fits:          now ├──────── 99 × 20 ms ─────┤──┤ slot
//
// The instant is in ticks, `requestTicks` per request, modulo 2^32: one compare-and-swap without
// BigInt (64-bit Atomics allocate 56 bytes a call). A long idle slot wraps and seems to be ahead.
// Beyond a burst it is known to be old, and the bucket is full; else, with a chance of burst over
// 2^32 ticks (1 in 42,000 for a burst of 100), the bucket seems partly used, which denies briefly
// and never grants more.
//
// Guarantee for all workers together: in any time t at most burst + perSecond × t + 1 tick. So a
// slot belongs to one key and one limit (rate-file.ts).

import type { Rate } from '../../config/plan.ts'

/**
 * `unavailable`: the rate file is full or the store is away. `pending`: call `spendRateLater`;
 * never for one request.
 */
export const rateResults = { granted: 0, exceeded: 1, unavailable: 2, pending: 3 } as const
export type RateResult = (typeof rateResults)[keyof typeof rateResults]

export type Pace = Readonly<ReturnType<typeof paceOf>>

const requestTicksMax = 1024

/** Keeps the chance above under 1 in 256 if possible. */
const burstTicksWanted = 2 ** 24

/** Keeps milliseconds × ticks exact for years. */
const ticksPerSecondWanted = 2 ** 26

/** Processes' clocks agree to about a microsecond. */
const skewMs = 10

export function paceOf(rate: Rate) {
  const room = Math.min(
    requestTicksMax,
    burstTicksWanted / rate.burst,
    ticksPerSecondWanted / rate.perSecond,
  )
  const requestTicks = Math.max(1, Math.floor(room))
  return {
    requestTicks,
    burstTicks: rate.burst * requestTicks,
    ticksPerMs: (rate.perSecond * requestTicks) / 1000,
  }
}

/**
 * A machine-clock instant in ticks, modulo 2^32. A separate function because integers are not
 * boxed.
 */
export function ticksAt(machineMs: number, pace: Pace): number {
  return Math.floor(machineMs * pace.ticksPerMs) | 0
}

/**
 * Takes all `count` requests or none. `now` is `ticksAt` an instant of the caller's own turn; an
 * older one grants up to its age × `perSecond` too much on an idle slot. `clock` reads the
 * machine's clock again for a slot that seems impossible, once per wrap.
 */
export function takeRate(
  words: Int32Array,
  index: number,
  pace: Pace,
  now: number,
  count: number,
  clock: () => number,
): boolean {
  const ticks = count * pace.requestTicks
  for (;;) {
    const kept = Atomics.load(words, index)
    let ahead = (kept - now) | 0
    if (ahead < 0) ahead = 0
    else if (ahead > pace.burstTicks) ahead = provenAhead(kept, pace, clock)
    const next = ahead + ticks
    if (next > pace.burstTicks) return false
    if (Atomics.compareExchange(words, index, kept, (now + next) | 0) === kept) return true
  }
}

/**
 * A slot that seems ahead of a full burst is old and wrapped (0), or `now` was old, because the
 * process was stopped after reading the clock. A clock read after the slot decides: no slot is more
 * than a burst ahead of it.
 */
function provenAhead(kept: number, pace: Pace, clock: () => number): number {
  const ahead = (kept - ticksAt(clock(), pace)) | 0
  return ahead > pace.burstTicks + skewMs * pace.ticksPerMs ? 0 : pace.burstTicks
}

/** Ticks by which the slot is ahead of `now`: 0 is a full bucket, `burstTicks` an empty one. */
export function aheadTicks(words: Int32Array, index: number, pace: Pace, now: number): number {
  const ahead = (Atomics.load(words, index) - now) | 0
  return ahead < 0 ? 0 : ahead > pace.burstTicks ? pace.burstTicks : ahead
}

export function rateRemaining(ahead: number, pace: Pace): number {
  return Math.floor((pace.burstTicks - ahead) / pace.requestTicks)
}

export function rateResetMs(ahead: number, pace: Pace): number {
  return ahead / pace.ticksPerMs
}

/** 0 if they fit now. More than a burst never fit. */
export function rateRetryMs(ahead: number, pace: Pace, requests: number): number {
  const over = ahead + requests * pace.requestTicks - pace.burstTicks
  return over <= 0 ? 0 : over / pace.ticksPerMs
}
