// Hot path: no allocation, throw, closure, BigInt or regular expression below.
//
// A rate limit as one number that all workers share: GCRA (ITU-T I.371), the token bucket that
// needs no refill. A slot keeps the instant at which its bucket is full again; a request moves it
// ahead by the time that one request takes to come back, and is refused where that instant would
// lie further ahead than the whole burst.
//
//   50/s, burst 100, just used up      now ├──────── 100 × 20 ms ────────┤ slot
//   20 ms later one request fits:          now ├──────── 99 × 20 ms ─────┤──┤ slot
//
// The instant is counted in ticks, `requestTicks` to a request, modulo 2^32: 32 bits are one
// compare-and-swap without a BigInt (64-bit Atomics allocate 56 bytes a call). The instant of a
// slot that was idle for long wraps and seems to lie ahead. Further ahead than a burst it is known
// to be old, and the bucket is full; else, with a chance of burst over 2^32 ticks (1 in 42,000 for
// a burst of 100), the bucket seems partly used: that denies for a moment and never grants more.
//
// Guarantee, for all workers together: over any time t no more than burst + perSecond × t + 1 tick.
// So a slot belongs to one key and one limit (rate-file.ts).

import type { Rate } from '../../config/plan.ts'

/**
 * `unavailable`: the key is not in the full rate file, or the store is away. `pending`: only
 * `spendRateLater` can tell; never for one request.
 */
export const rateResults = { granted: 0, exceeded: 1, unavailable: 2, pending: 3 } as const
export type RateResult = (typeof rateResults)[keyof typeof rateResults]

export type Pace = Readonly<ReturnType<typeof paceOf>>

/** For a burst and rate small enough. */
const requestTicksMax = 1024

/** Bursts have at most 2^24 ticks where they can: the chance above stays under 1 in 256. */
const burstTicksWanted = 2 ** 24

/** So that milliseconds × ticks stay exact for years. */
const ticksPerSecondWanted = 2 ** 26

/** Clocks of two processes agree to about a microsecond; this is what the slot's age must beat. */
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
 * An instant of the machine's clock (base/system/clock.ts) in ticks, modulo 2^32; apart from
 * `takeRate` because an integer is passed without being boxed.
 */
export function ticksAt(machineMs: number, pace: Pace): number {
  return Math.floor(machineMs * pace.ticksPerMs) | 0
}

/**
 * Takes `count` requests from the slot at `index`, all or none; whether they fit. `now` is
 * `ticksAt` an instant of the caller's own turn: an older one, before that of a slot idle since,
 * grants up to its age × `perSecond` too much. `clock` reads the machine's clock anew, once in a
 * wrap, for a slot that seems impossible.
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
 * How far ahead a slot is that seems to be ahead of a full burst: 0 where it is old and came round.
 * Or it is not, and `now` was old (the process was stopped after it read the clock). A clock that
 * is read after the slot tells: no slot is ever more than a burst ahead of it.
 */
function provenAhead(kept: number, pace: Pace, clock: () => number): number {
  const ahead = (kept - ticksAt(clock(), pace)) | 0
  return ahead > pace.burstTicks + skewMs * pace.ticksPerMs ? 0 : pace.burstTicks
}

/**
 * Ticks that the slot lies ahead of `now` (`ticksAt`): 0 for a full bucket, `burstTicks` for an
 * empty one.
 */
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

/** 0 where they fit now. More than a burst never do. */
export function rateRetryMs(ahead: number, pace: Pace, requests: number): number {
  const over = ahead + requests * pace.requestTicks - pace.burstTicks
  return over <= 0 ? 0 : over / pace.ticksPerMs
}
