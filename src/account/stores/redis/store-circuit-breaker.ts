// A circuit breaker around the connection to a store for many machines: scripts run, or fail soon.
//
//   up ── a ping or a script fails, or is too late ──▶ down ── two pings in a row succeed ──▶ up
//   up ── the store refuses all changes ──▶ down, but for reading ── it takes one ──▶ up
//
// It pings every `storeHeartbeatMs`. While the store is down every script fails at once. A script
// without an answer in time has failed for its caller, though the store may still run it; its
// answer then goes to `late`, which undoes it. The code of a failed script:
//
//   store_unreachable   it was not done: it was never sent, or doing it twice is doing it once
//   store_unknown       it may have been done: it was sent, and no answer came
//   store_refuses       it was not done: the store takes no changes just now (full, a replica, …)
//   store_failed        it was not done: the store finds fault with this one
//
// Invariants: a script is sent at most once, for its first sending may have been carried out;
// `onDown` and `onUp` are called in turn, never twice in a row; no text from here holds a
// credential.

import { type IpriskError, messageOf, environmentError } from '../../../base/coded-error.ts'
import { storeHeartbeatMs, storeSuccessesMax } from '../../../base/limits.ts'
import { trimEnd } from '../../../base/text/clean-text.ts'
import { type LuaScript, probeScript } from './lua-scripts.ts'

/** Without an answer for this long a new connection is made. */
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
  /** How the store should be set up; empty where all is well. */
  readonly advice: () => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

/** What redis-connection.ts has: one connection, which mends itself. */
export interface StoreConnection {
  readonly name: string
  /** Fails with `NotSentError` where it did not even try. */
  readonly send: (
    script: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ) => Promise<unknown>
  /** Rejects where any part of the store is not there. */
  readonly ping: () => Promise<void>
  /** `name:value` lines of each server. */
  readonly readInfo: () => Promise<readonly string[]>
  readonly reconnect: () => void
  readonly close: () => Promise<void>
}

interface CircuitBreakerOptions {
  readonly timeoutMs: number
  readonly replicas: number
  readonly onDown: (error: IpriskError) => void
  readonly onUp: () => void
}

function unreachableError(connection: StoreConnection, cause: string): IpriskError {
  // Without the cause itself: a client's errors may carry the command, and that the password.
  return environmentError(
    'store_unreachable',
    `The store ${connection.name} cannot be reached: ${trimEnd(cause, '.')}.`,
    { retryable: true },
  )
}

function unknownOutcomeError(
  connection: StoreConnection,
  { name }: LuaScript,
  cause: string,
): IpriskError {
  return environmentError(
    'store_unknown',
    `The store ${connection.name} was asked to ${name}, and nothing was heard of it (${cause}): it may ` +
      'have been done. See with "iprisk keys list".',
  )
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
  connection: StoreConnection,
  { name }: LuaScript,
  reason: string,
): IpriskError {
  const message = `The store ${connection.name} refuses to ${name}: ${reason}.`
  if (refusalPattern.test(reason)) return refusesChangesError(message)
  return environmentError('store_failed', message, { retryable: true })
}

function refusesChangesError(message: string): IpriskError {
  return environmentError('store_refuses', message, { retryable: true })
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
  // Its failure is of no interest once the time is over.
  watched.catch(() => undefined)
  try {
    return await Promise.race([watched, end])
  } finally {
    clearTimeout(timer)
  }
}

interface BreakerState {
  down: boolean
  /** Pings in a row that have succeeded. */
  successes: number
  /** How many of them bring a store back that is down; and when it came back last. */
  successesWanted: number
  upMs: number
  /** When the ping that is under way began; -1: none is. */
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

/** One timely answer of a store that is nearly too slow would not last. */
const successesToRecover = 2

/** A store that fails again this soon after it came back must answer for longer each time. */
const flapMs = 10_000

function recordFailure(
  state: BreakerState,
  options: CircuitBreakerOptions,
  error: IpriskError,
): void {
  state.successes = 0
  state.refusal = error.code === 'store_refuses' ? error.message : ''
  if (state.down) return
  const isFlapping = performance.now() - state.upMs < flapMs
  state.successesWanted = isFlapping
    ? Math.min(state.successesWanted * 2, storeSuccessesMax)
    : successesToRecover
  state.down = true
  options.onDown(error)
}

function recordSuccess(state: BreakerState, options: CircuitBreakerOptions): void {
  state.successes += 1
  if (!state.down || state.successes < state.successesWanted) return
  state.down = false
  state.refusal = ''
  state.probe = ''
  state.upMs = performance.now()
  options.onUp()
}

async function pingStore(
  connection: StoreConnection,
  state: BreakerState,
  options: CircuitBreakerOptions,
  timeoutMs = options.timeoutMs,
): Promise<void> {
  state.pingStartedMs = performance.now()
  const reply = pingOrProbe(connection, state).finally(() => (state.pingStartedMs = -1))
  const noteReply = (): void => void (state.lastReplyMs = performance.now())
  try {
    await withTimeout(reply, timeoutMs, noteReply)
    noteReply()
    recordSuccess(state, options)
  } catch (error) {
    const reason = messageOf(error)
    // It is there, and another connection would get the same answer.
    const refuses = isReply(error) && refusalPattern.test(reason)
    if (refuses) noteReply()
    state.reason = reason
    // Redis answers even PING with MISCONF.
    recordFailure(
      state,
      options,
      refuses
        ? scriptFailedError(connection, probeScript, reason)
        : unreachableError(connection, reason),
    )
  }
}

async function pingOrProbe(connection: StoreConnection, state: BreakerState): Promise<void> {
  await connection.ping()
  if (state.probe !== '') await connection.send(probeScript, [state.probe], [])
}

function heartbeat(
  connection: StoreConnection,
  state: BreakerState,
  options: CircuitBreakerOptions,
): void {
  if (state.pingStartedMs < 0) void pingStore(connection, state, options)
  const nowMs = performance.now()
  if (!state.down || nowMs - state.lastReplyMs < storeReconnectMs + options.timeoutMs) return
  state.lastReplyMs = nowMs
  connection.reconnect()
}

/**
 * A circuit breaker over a connection; it is down when the first ping, which this awaits, fails.
 */
export async function openStoreCircuitBreaker(
  connection: StoreConnection,
  options: CircuitBreakerOptions,
): Promise<StoreCircuitBreaker> {
  const state: BreakerState = {
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
  let isClosed = false
  const classifyFailure = (
    error: unknown,
    script: LuaScript,
    keys: readonly string[],
  ): IpriskError => {
    const reason = messageOf(error)
    if (isReply(error)) {
      const failure = scriptFailedError(connection, script, reason)
      if (failure.code === 'store_refuses' && !state.down) {
        state.probe = probeName(keys)
        recordFailure(state, options, failure)
      }
      return failure
    }
    state.reason = reason
    const unreachable = unreachableError(connection, reason)
    if (!isClosed) recordFailure(state, options, unreachable)
    const isUndone = error instanceof NotSentError || script.repeatable === true
    return isUndone ? unreachable : unknownOutcomeError(connection, script, reason)
  }
  await pingStore(connection, state, options, Math.max(options.timeoutMs, storeReconnectMs))
  const timer = setInterval(() => heartbeat(connection, state, options), storeHeartbeatMs)
  timer.unref()
  return {
    runScript: async (script, keys, args, late) => {
      if (isClosed) throw unreachableError(connection, 'the connection is closed')
      if (state.down && state.refusal === '') {
        throw unreachableError(connection, state.reason)
      }
      if (state.down && script.reads !== true) throw refusesChangesError(state.refusal)
      try {
        return await withTimeout(connection.send(script, keys, args), options.timeoutMs, late)
      } catch (error) {
        throw classifyFailure(error, script, keys)
      }
    },
    down: () => state.down || isClosed,
    advice: async () =>
      storeAdvice(
        await withTimeout(connection.readInfo(), options.timeoutMs).catch(() => []),
        options.replicas,
      ),
    close: async () => {
      isClosed = true
      clearInterval(timer)
      await connection.close()
    },
  }
}

// Advice for the log of a start about a store that may lose counts, from INFO of Redis and Valkey.
// Never a reason not to start: some stores report nothing.

/** `replicas` is how many must have a lease before it counts. */
export function storeAdvice(infos: readonly string[], replicas: number): readonly string[] {
  const sentences = new Set<string>()
  for (const info of infos) {
    const lines = info.split(/\r?\n/)
    const valueOf = (name: string): string | undefined =>
      lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1)
    if (valueOf('aof_enabled') === '0') {
      sentences.add(
        'The store keeps no log of its changes (appendonly no): when it ends, keys, own lists and ' +
          'quota counts since its last snapshot are lost, all of them if it takes none: new keys ' +
          'get 401, revoked ones work again, quotas can be spent again. Set appendonly yes.',
      )
    }
    if (replicas === 0 && Number(valueOf('connected_slaves') ?? 0) > 0) {
      sentences.add(
        'The store has replicas, and leases count before they have them: where it fails over, what ' +
          'was granted just before can be granted again, unless --store-replicas says how many must.',
      )
    }
    const eviction = valueOf('maxmemory_policy')
    if (eviction !== undefined && eviction !== 'noeviction') {
      sentences.add(
        `The store may remove keys and counters when its memory is full (maxmemory-policy ` +
          `${eviction}): set noeviction.`,
      )
    }
  }
  return [...sentences]
}
