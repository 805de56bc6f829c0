// A worker's side of shared rate limits: it spends the machine's balance (local-balance.ts) and
// refills it from the store (shared-bucket.ts) in the background. A check never waits: without
// balance it is refused or, while the store is away, decided by policy.
//
//   spend ─▶ balance left? ─yes─▶ granted        (below half: ask in the background)
//              │no
//              ├─▶ the store is there ─▶ exceeded; a batch: pending ─▶ ask for all that it needs
//              ├─▶ it is away, policy "refuse" ─▶ unavailable
//              └─▶ it is away, policy "serve" ─▶ the machine's own limit: the whole rate (rate.ts)
//
// The machine's own limit is a GCRA slot. Each answer of the store sets it to the bucket's level,
// so that it starts where the store ended; `remaining` reads it too. Only this file writes a
// `SharedRate` and its limit.

import type { Rate } from '../../config/plan.ts'
import { type BalanceWords, applyRefill, claimRefill, noBalance } from './local-balance.ts'
import { reclaimBalance, spendBalance } from './local-balance.ts'
import { type Pace, type RateResult, aheadTicks, rateResults, takeRate, ticksAt } from './rate.ts'
import type { RateFile } from './rate-file.ts'
import type { SharedBuckets } from './shared-bucket.ts'
import { sharedBucketSizes, rateLeaseMs } from './shared-bucket.ts'

/** The shortest interval between refills of a key when the store runs short. */
const rateRefillGapMs = 5

const rateIdleMs = 3000

/** Limits are never changed: a late answer of the store counts for the limit that asked. */
function newLimit(
  keyId: string,
  rate: Rate,
  pace: Pace,
  at: { readonly balanceIndex: number; readonly localIndex: number },
) {
  const sizes = sharedBucketSizes(rate)
  return {
    keyId,
    rate,
    pace,
    sizes,
    /** Indexes of the balance and the machine's own limit in the rate file. */
    ...at,
    refillBelow: Math.ceil(sizes.ahead / 2),
    storeFailed: false,
    /** For idleness: the balance at the last tick that saw a change. */
    idleBalance: noBalance as number,
    idleMs: 0,
  }
}

type SharedLimitRecord = ReturnType<typeof newLimit>

export type SharedLimit = Readonly<SharedLimitRecord>

interface SharedRateRecord {
  readonly keyId: string
  /** `undefined` without a rate limit, or before the first request. */
  limit: SharedLimitRecord | undefined
}

export interface SharedRate extends Readonly<SharedRateRecord> {
  readonly limit: SharedLimit | undefined
}

export const newSharedRate = (keyId: string): SharedRate => ({ keyId, limit: undefined })

export interface SharedRateOptions {
  readonly buckets: SharedBuckets
  readonly rateFile: RateFile
  readonly policy: 'serve' | 'refuse'
  readonly machineOffsetMs: number
  readonly now: () => number
  readonly onTrouble: (error: unknown) => void
  readonly onRecovery: () => void
}

export interface SharedRateState extends SharedRateOptions {
  readonly memory: BalanceWords
  readonly clock: () => number
  readonly active: Set<SharedLimit>
}

/** `undefined` if the rate file is full. */
export function assignSharedLimit(
  state: SharedRateState,
  shared: SharedRateRecord,
  rate: Rate,
  pace: Pace,
): SharedLimit | undefined {
  const { rateFile, active } = state
  const { keyId } = shared
  const balanceIndex = rateFile.slotOf(keyId, rate)
  const localIndex = rateFile.slotOf(`${keyId} alone`, rate)
  if (balanceIndex < 0 || localIndex < 0) return undefined
  shared.limit = newLimit(keyId, rate, pace, { balanceIndex, localIndex })
  active.add(shared.limit)
  return shared.limit
}

export function forgetOldLimit(
  { active }: SharedRateState,
  shared: SharedRateRecord,
  pace: Pace | undefined,
): void {
  if (shared.limit === undefined || shared.limit.pace === pace) return
  active.delete(shared.limit)
  shared.limit = undefined
}

const { granted, exceeded, unavailable, pending } = rateResults

export function spendSharedRate(
  state: SharedRateState,
  limit: SharedLimitRecord,
  requests: number,
  nowMs: number,
): RateResult {
  const left = spendBalance(state.memory.words, limit.balanceIndex, requests, limit.sizes.credit)
  if (left >= limit.refillBelow) return granted
  if (left === noBalance) return spendWithoutBalance(state, limit, requests, nowMs)
  if (!state.buckets.down()) requestRefill(state, limit, nowMs)
  return granted
}

function spendWithoutBalance(
  state: SharedRateState,
  limit: SharedLimitRecord,
  requests: number,
  nowMs: number,
): RateResult {
  if (!state.buckets.down()) {
    if (requests > 1) return requests > limit.rate.burst ? exceeded : pending
    requestRefill(state, limit, nowMs)
    if (!limit.storeFailed) return exceeded
  }
  return spendWhileStoreDown(state, limit, requests, nowMs)
}

function spendWhileStoreDown(
  state: SharedRateState,
  limit: SharedLimitRecord,
  requests: number,
  nowMs: number,
): RateResult {
  if (state.policy === 'refuse') return unavailable
  const { pace } = limit
  const atTicks = ticksAt(nowMs + state.machineOffsetMs, pace)
  return takeRate(state.memory.words, limit.localIndex, pace, atTicks, requests, state.clock)
    ? granted
    : exceeded
}

/**
 * The batch takes from the bucket itself. The machine returns its balance first, or a batch as
 * large as the burst would never fit. A refill in flight may take from the bucket meanwhile: then
 * it tries once more.
 */
export async function spendSharedBatch(
  state: SharedRateState,
  limit: SharedLimitRecord,
  requests: number,
): Promise<RateResult> {
  try {
    return await takeBatch(state, limit, requests)
  } catch (error) {
    limit.storeFailed = true
    state.active.add(limit)
    state.onTrouble(error)
    return spendWhileStoreDown(state, limit, requests, state.now())
  }
}

async function takeBatch(
  state: SharedRateState,
  limit: SharedLimitRecord,
  requests: number,
): Promise<RateResult> {
  const { words } = state.memory
  const wanted = { keyId: limit.keyId, rate: limit.rate, want: requests, need: requests }
  for (let tries = 0; tries < 2; tries += 1) {
    const units = reclaimBalance(words, limit.balanceIndex, Atomics.load(words, limit.balanceIndex))
    returnTokens(state, limit, units)
    const taking = await state.buckets.takeTokens(wanted)
    syncLocalLimit(state, limit, taking.level)
    if (taking.granted === requests) return granted
    if (Atomics.load(words, limit.balanceIndex) <= 0) break
  }
  return exceeded
}

function returnTokens(state: SharedRateState, limit: SharedLimit, units: number): void {
  if (units === 0) return
  const back = { keyId: limit.keyId, rate: limit.rate, want: -units, need: 0 }
  state.buckets.takeTokens(back).catch((error: unknown) => state.onTrouble(error))
}

/** Unless another worker of this machine just did. */
function requestRefill(state: SharedRateState, limit: SharedLimitRecord, nowMs: number): void {
  const { words } = state.memory
  const claim = claimRefill(words, limit.balanceIndex, nowMs + state.machineOffsetMs)
  if (claim === 0) return
  state.active.add(limit)
  void refill(state, limit, claim).catch((error: unknown) => state.onTrouble(error))
}

async function refill(
  state: SharedRateState,
  limit: SharedLimitRecord,
  claim: number,
): Promise<void> {
  const { buckets, memory, now, machineOffsetMs } = state
  const { keyId, rate } = limit
  const most = limit.sizes.ahead
  const want = Math.max(0, most - Atomics.load(memory.words, limit.balanceIndex))
  const enter = (granted: number, pauseMs: number): void => {
    const machineMs = now() + machineOffsetMs
    applyRefill(memory, limit.balanceIndex, { claim, granted, most, machineMs, pauseMs })
  }
  try {
    const taking = await buckets.takeTokens({ keyId, rate, want, need: 0 })
    enter(taking.granted, taking.granted < want ? refillPauseMs(limit, rate.perSecond) : 0)
    syncLocalLimit(state, limit, taking.level)
  } catch (error) {
    limit.storeFailed = true
    enter(0, pauseMsMax)
    throw error
  }
  // A burst is in progress and would soon run out.
  if (Atomics.load(memory.words, limit.balanceIndex) < limit.refillBelow)
    requestRefill(state, limit, now())
}

function syncLocalLimit(state: SharedRateState, limit: SharedLimitRecord, level: number): void {
  const { memory, now, machineOffsetMs, onRecovery } = state
  const { pace } = limit
  if (limit.storeFailed) onRecovery()
  limit.storeFailed = false
  const ahead = Math.min(Math.ceil(level * pace.requestTicks), pace.burstTicks)
  const nowTicks = ticksAt(now() + machineOffsetMs, pace)
  Atomics.store(memory.words, limit.localIndex, (nowTicks + ahead) | 0)
}

/** A fifth of `rateLeaseMs`, for which a bucket is never too small. */
const pauseMsMax = rateLeaseMs / 5

/** For an empty bucket: the time in which an eighth of `ahead` returns, within bounds. */
function refillPauseMs({ sizes }: SharedLimit, perSecond: number): number {
  const eighthMs = (sizes.ahead / 8 / perSecond) * 1000
  return Math.min(Math.max(eighthMs, rateRefillGapMs), pauseMsMax)
}

export function tickSharedRates(state: SharedRateState): void {
  const nowMs = state.now()
  if (state.buckets.down()) return
  for (const limit of state.active) maintainSharedRate(state, limit, nowMs)
}

function maintainSharedRate(state: SharedRateState, limit: SharedLimitRecord, nowMs: number): void {
  const balance = Atomics.load(state.memory.words, limit.balanceIndex)
  // A failed store is asked until it answers, even without requests.
  if (balance < 0 || limit.storeFailed) requestRefill(state, limit, nowMs)
  if (balance !== limit.idleBalance) {
    limit.idleBalance = balance
    limit.idleMs = nowMs
    return
  }
  if (nowMs - limit.idleMs < rateIdleMs) return
  if (balance >= 0 && !limit.storeFailed) state.active.delete(limit)
  const units = reclaimBalance(state.memory.words, limit.balanceIndex, balance)
  returnTokens(state, limit, units)
}

export function sharedAheadTicks(
  state: SharedRateState,
  limit: SharedLimitRecord,
  nowMs: number,
): number {
  const { pace } = limit
  const { words } = state.memory
  const atTicks = ticksAt(nowMs + state.machineOffsetMs, pace)
  const ahead = aheadTicks(words, limit.localIndex, pace, atTicks)
  const balance = Atomics.load(words, limit.balanceIndex)
  return Math.min(Math.max(0, ahead - balance * pace.requestTicks), pace.burstTicks)
}
