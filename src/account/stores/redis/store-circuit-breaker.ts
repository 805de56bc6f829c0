// A process's connection to a store for many machines, as the rest of src/account sees it: scripts
// run, or fail soon. The connection itself is redis-connection.ts; here is whether the store is
// there.
//
//   up ── a look or a script fails, or is too late ──▶ down ── two looks in a row succeed ──▶ up
//   up ── the store refuses all changes ──▶ down, but for reading ── it takes one ──▶ up
//
// Looks happen every `storeHeartbeatMs`. While the store is down every script fails at once: nobody
// waits for it, and nothing piles up. A script without an answer in time has failed for its caller,
// though the store may run it yet; what it answers then goes to `late`, which undoes it.
//
// What has become of a script that failed, its code says:
//
//   store_unreachable   it was not done: it was never sent, or doing it twice is doing it once
//   store_unknown       it may have been done: it was sent, and nothing was heard of it
//   store_refuses       it was not done: the store takes no changes just now (full, a replica, …)
//   store_failed        it was not done: the store finds fault with this one
//
// Invariants: a script is sent at most once, for its first sending may have been carried out;
// `onDown` and `onUp` are called in turn, never twice in a row; no text from here holds a
// credential.

import { IpriskError, messageOf } from '../../../base/coded-error.ts'
import { storeHeartbeatMs, storeSuccessesMax } from '../../../base/limits.ts'
import { trimEnd } from '../../../base/text/clean-text.ts'
import { type LuaScript, probeScript } from './lua-scripts.ts'

/** Without an answer for this long the connection is given up and a new one made. */
export const storeReconnectMs = 1000

export interface StoreCircuitBreaker {
  /** Runs a script on keys of one hash tag; fails with one of the four codes. */
  readonly runScript: (
    script: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
    late?: (reply: unknown) => void,
  ) => Promise<unknown>
  readonly down: () => boolean
  /** What an operator should know of how the store is set up; empty where all is well. */
  readonly advice: () => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

/** What redis-connection.ts has: one connection, which mends itself. */
export interface StoreConnection {
  /** As it may be shown. */
  readonly name: string
  /** Fails with `NotSentError` where it did not even try. */
  readonly send: (
    script: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ) => Promise<unknown>
  /** Rejects where any part of the store is not there. */
  readonly ping: () => Promise<void>
  /** What each server of the store tells of itself: `name:value` lines. */
  readonly readInfo: () => Promise<readonly string[]>
  /** Gives up what it has and connects anew. */
  readonly reconnect: () => void
  readonly close: () => Promise<void>
}

interface CircuitBreakerOptions {
  readonly timeoutMs: number
  /** How many replicas must have what is kept. */
  readonly replicas: number
  readonly onDown: (error: IpriskError) => void
  readonly onUp: () => void
}

function unreachableError(wire: StoreConnection, cause: string): IpriskError {
  // Without the cause itself: a client's errors may carry the command, and that the password.
  return new IpriskError({
    code: 'store_unreachable',
    message: `The store ${wire.name} cannot be reached: ${trimEnd(cause, '.')}.`,
    fault: 'environment',
    retryable: true,
  })
}

function unknownOutcomeError(
  wire: StoreConnection,
  { name }: LuaScript,
  cause: string,
): IpriskError {
  return new IpriskError({
    code: 'store_unknown',
    message:
      `The store ${wire.name} was asked to ${name}, and nothing was heard of it (${cause}): it may ` +
      'have been done. See with "iprisk keys list".',
    fault: 'environment',
  })
}

/** What never left this process. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError'
}

/** What the store itself answered. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError'
}

/**
 * Why a store takes no changes at all for a while; older ones say it inside of a script's error.
 */
const refusalPattern = /\b(OOM|MISCONF|READONLY|LOADING|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|BUSY)\b/

function scriptFailedError(
  wire: StoreConnection,
  { name }: LuaScript,
  reason: string,
): IpriskError {
  const message = `The store ${wire.name} refuses to ${name}: ${reason}.`
  if (refusalPattern.test(reason)) return refusesChangesError(message)
  return new IpriskError({ code: 'store_failed', message, fault: 'environment', retryable: true })
}

function refusesChangesError(message: string): IpriskError {
  return new IpriskError({ code: 'store_refuses', message, fault: 'environment', retryable: true })
}

/** A name beside the first of `keys`, on the same node: with what it has in braces. */
function probeName([key = '']: readonly string[]): string {
  const from = key.indexOf('{')
  const to = key.indexOf('}', from)
  return `iprisk:${from < 0 || to < 0 ? '{}' : key.slice(from, to + 1)}:try`
}

/** Resolves as `work` does, or rejects after `ms`. What `work` gives afterwards goes to `late`. */
async function withTimeout<T>(work: Promise<T>, ms: number, late?: (value: T) => void): Promise<T> {
  let over = false
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      over = true
      reject(new Error(`no answer within ${ms} ms`))
    }, ms)
  })
  const watched = (async () => {
    const value = await work
    if (over) late?.(value)
    return value
  })()
  // Nobody else hears of its failure once the time is over.
  watched.catch(() => undefined)
  try {
    return await Promise.race([watched, end])
  } finally {
    clearTimeout(timer)
  }
}

/** What has been seen of the store. One object, changed in place. */
interface BreakerState {
  down: boolean
  /** Looks in a row that have succeeded. */
  successes: number
  /** How many of them bring a store back that is down; and when it came back last. */
  successesWanted: number
  upMs: number
  /** When the look that is under way began; -1: none is. */
  pingStartedMs: number
  /** When there was an answer last, or a new connection was made for the lack of one. */
  lastReplyMs: number
  /** Why the store takes no changes, while it is there to say so; else `''`. */
  refusal: string
  /** Why it was not reached the last time. */
  reason: string
  /** What to write to see whether it takes them again; `''` where it has not refused. */
  probe: string
}

/** One good answer of a store that is slow at the edge of its time would not last. */
const successesToRecover = 2

/** A store that has gone soon after it came back must be good for longer each time. */
const flapMs = 10_000

function recordFailure(
  sight: BreakerState,
  options: CircuitBreakerOptions,
  error: IpriskError,
): void {
  sight.successes = 0
  sight.refusal = error.code === 'store_refuses' ? error.message : ''
  if (sight.down) return
  const soon = performance.now() - sight.upMs < flapMs
  sight.successesWanted = soon
    ? Math.min(sight.successesWanted * 2, storeSuccessesMax)
    : successesToRecover
  sight.down = true
  options.onDown(error)
}

function recordSuccess(sight: BreakerState, options: CircuitBreakerOptions): void {
  sight.successes += 1
  if (!sight.down || sight.successes < sight.successesWanted) return
  sight.down = false
  sight.refusal = ''
  sight.probe = ''
  sight.upMs = performance.now()
  options.onUp()
}

/** Resolves when it is known whether the store answers in time; a late answer is worth nothing. */
async function pingStore(
  wire: StoreConnection,
  sight: BreakerState,
  options: CircuitBreakerOptions,
  timeoutMs = options.timeoutMs,
): Promise<void> {
  sight.pingStartedMs = performance.now()
  const answer = pingOrProbe(wire, sight).finally(() => (sight.pingStartedMs = -1))
  const hear = (): void => void (sight.lastReplyMs = performance.now())
  try {
    await withTimeout(answer, timeoutMs, hear)
    hear()
    recordSuccess(sight, options)
  } catch (error) {
    const reason = messageOf(error)
    // It is there, and another connection would hear the same.
    const refuses = isReply(error) && refusalPattern.test(reason)
    if (refuses) sight.lastReplyMs = performance.now()
    sight.reason = reason
    // Redis answers even PING with MISCONF.
    recordFailure(
      sight,
      options,
      refuses ? scriptFailedError(wire, probeScript, reason) : unreachableError(wire, reason),
    )
  }
}

/** Whether the store is there, and where it took no changes: whether it takes them again. */
async function pingOrProbe(wire: StoreConnection, sight: BreakerState): Promise<void> {
  await wire.ping()
  if (sight.probe !== '') await wire.send(probeScript, [sight.probe], [])
}

function heartbeat(
  wire: StoreConnection,
  sight: BreakerState,
  options: CircuitBreakerOptions,
): void {
  if (sight.pingStartedMs < 0) void pingStore(wire, sight, options)
  const nowMs = performance.now()
  if (!sight.down || nowMs - sight.lastReplyMs < storeReconnectMs + options.timeoutMs) return
  sight.lastReplyMs = nowMs
  wire.reconnect()
}

/**
 * A circuit breaker over a connection; it is down when the first look, which this awaits, fails.
 */
export async function openStoreCircuitBreaker(
  wire: StoreConnection,
  options: CircuitBreakerOptions,
): Promise<StoreCircuitBreaker> {
  const sight: BreakerState = {
    down: false,
    successes: 0,
    successesWanted: successesToRecover,
    upMs: -Infinity,
    pingStartedMs: -1,
    lastReplyMs: performance.now(),
    refusal: '',
    reason: '',
    probe: '',
  }
  let closed = false
  /** What a failure means for its caller, and for everybody. */
  const classifyFailure = (
    error: unknown,
    script: LuaScript,
    keys: readonly string[],
  ): IpriskError => {
    const reason = messageOf(error)
    if (isReply(error)) {
      const told = scriptFailedError(wire, script, reason)
      if (told.code === 'store_refuses' && !sight.down) {
        sight.probe = probeName(keys)
        recordFailure(sight, options, told)
      }
      return told
    }
    sight.reason = reason
    const gone = unreachableError(wire, reason)
    if (!closed) recordFailure(sight, options, gone)
    const undone = error instanceof NotSentError || script.repeatable === true
    return undone ? gone : unknownOutcomeError(wire, script, reason)
  }
  await pingStore(wire, sight, options, Math.max(options.timeoutMs, storeReconnectMs))
  const timer = setInterval(() => heartbeat(wire, sight, options), storeHeartbeatMs)
  timer.unref()
  return {
    runScript: async (script, keys, args, late) => {
      if (closed) throw unreachableError(wire, 'the connection is closed')
      if (sight.down && sight.refusal === '') {
        throw unreachableError(wire, sight.reason)
      }
      if (sight.down && script.reads !== true) throw refusesChangesError(sight.refusal)
      try {
        return await withTimeout(wire.send(script, keys, args), options.timeoutMs, late)
      } catch (error) {
        throw classifyFailure(error, script, keys)
      }
    },
    down: () => sight.down || closed,
    advice: async () =>
      storeAdvice(
        await withTimeout(wire.readInfo(), options.timeoutMs).catch(() => []),
        options.replicas,
      ),
    close: async () => {
      closed = true
      clearInterval(timer)
      await wire.close()
    },
  }
}

// What to say of a store that may lose counts, from what it tells of itself (INFO of Redis and
// Valkey). Advice for the log of a start, never a reason not to start: some stores tell nothing.

/**
 * A sentence for each thing that an operator should know; each once. `replicas` is how many must
 * have a lease before it counts.
 */
export function storeAdvice(infos: readonly string[], replicas: number): readonly string[] {
  const said = new Set<string>()
  for (const info of infos) {
    const lines = info.split(/\r?\n/)
    const valueOf = (name: string): string | undefined =>
      lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1)
    if (valueOf('aof_enabled') === '0') {
      said.add(
        'The store keeps no log of its changes (appendonly no): when it ends, quotas that were ' +
          'spent since its last snapshot can be spent again.',
      )
    }
    if (replicas === 0 && Number(valueOf('connected_slaves') ?? 0) > 0) {
      said.add(
        'The store has replicas, and leases count before they have them: where it fails over, what ' +
          'was granted just before can be granted again, unless --store-replicas says how many must.',
      )
    }
    const eviction = valueOf('maxmemory_policy')
    if (eviction !== undefined && eviction !== 'noeviction') {
      said.add(
        `The store may remove keys and counters when its memory is full (maxmemory-policy ` +
          `${eviction}): set noeviction.`,
      )
    }
  }
  return [...said]
}
