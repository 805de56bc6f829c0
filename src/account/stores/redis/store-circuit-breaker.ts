// A circuit breaker for the shared store: scripts run, or fail soon.
//
//   up ── a ping or a script fails, or is too late ──▶ down ── two pings in a row succeed ──▶ up
//   up ── the store refuses all changes ──▶ down, but for reading ── it takes one ──▶ up
//
// It pings every `storeHeartbeatMs`. While the store is down, scripts fail at once. A script
// without a timely answer has failed for its caller; if the store still runs it, its answer goes to
// `late`, which undoes it. The code of a failed script:
//
//   store_unreachable   not done: never sent, or repeatable
//   store_unknown       maybe done: sent without an answer
//   store_refuses       not done: the store takes no changes now (full, a replica, …)
//   store_failed        not done: the store rejects this script
//
// Invariants: a script is sent at most once, because it may have been carried out; `onDown` and
// `onUp` alternate; no text from here holds a credential.

import { type IpriskError, messageOf, environmentError } from '../../../base/coded-error.ts'
import { storeHeartbeatMs, storeSuccessesMax } from '../../../base/limits.ts'
import { trimEnd } from '../../../base/text/clean-text.ts'
import { type LuaScript, probeScript } from './lua-scripts.ts'

/** Reconnect after this long without an answer. */
export const storeReconnectMs = 1000

export type StoreCircuitBreaker = Awaited<ReturnType<typeof openStoreCircuitBreaker>>

/** One connection that reconnects itself (redis-connection.ts). */
export interface StoreConnection {
  readonly name: string
  /** Throws `NotSentError` if it did not try. */
  readonly send: (
    script: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ) => Promise<unknown>
  /** Rejects if any part of the store is away. */
  readonly ping: () => Promise<void>
  /** `name:value` lines per server. */
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
  // Without the cause: a client's errors may contain the password.
  const message = `The store ${connection.name} cannot be reached: ${trimEnd(cause, '.')}.`
  return environmentError('store_unreachable', message, { retryable: true })
}

function unknownOutcomeError(
  connection: StoreConnection,
  { name }: LuaScript,
  cause: string,
): IpriskError {
  const message =
    `The store ${connection.name} did not answer "${name}" (${cause}), which may ` +
    'have been executed. Check with "iprisk keys list".'
  return environmentError('store_unknown', message)
}

export class NotSentError extends Error {
  override readonly name = 'NotSentError'
}

const isReply = (error: unknown): error is Error =>
  error instanceof Error && error.name === 'ReplyError'

/** Temporary refusals of all changes; older servers wrap them in a script's error. */
const refusalPattern = /\b(OOM|MISCONF|READONLY|LOADING|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|BUSY)\b/

function scriptFailedError(
  connection: StoreConnection,
  { name }: LuaScript,
  reason: string,
): IpriskError {
  const message = `The store ${connection.name} refuses to ${name}: ${reason}.`
  const code = refusalPattern.test(reason) ? 'store_refuses' : 'store_failed'
  return environmentError(code, message, { retryable: true })
}

/** A name on the node of the first of `keys`: with its hash tag. */
function probeName([key = '']: readonly string[]): string {
  const from = key.indexOf('{')
  const to = key.indexOf('}', from)
  return `iprisk:${from < 0 || to < 0 ? '{}' : key.slice(from, to + 1)}:try`
}

/** Rejects after `ms`; a later result of `work` goes to `late`. */
async function withTimeout<T>(work: Promise<T>, ms: number, late?: (value: T) => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, end])
  } catch (error) {
    // Its failure no longer matters.
    work.then(late).catch(() => undefined)
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** One timely answer of a slow store would not last. */
const successesToRecover = 2

/** A store that fails again this soon must answer for longer each time. */
const flapMs = 10_000

type Breaker = ReturnType<typeof newBreaker>

function newBreaker(connection: StoreConnection, options: CircuitBreakerOptions) {
  return {
    connection,
    options,
    isClosed: false,
    down: false,
    successes: 0,
    /** Pings needed to recover, and the time of the last recovery. */
    successesWanted: successesToRecover as number,
    upMs: -Infinity,
    isPinging: false,
    /** The last answer or reconnect. */
    lastReplyMs: performance.now(),
    /** Why a reachable store takes no changes, else `''`. */
    refusal: '',
    reason: '',
    /** What to write to test for changes; `''` if it has not refused. */
    probe: '',
  }
}

function recordFailure(breaker: Breaker, error: IpriskError): void {
  breaker.successes = 0
  breaker.refusal = error.code === 'store_refuses' ? error.message : ''
  if (breaker.down) return
  const isFlapping = performance.now() - breaker.upMs < flapMs
  breaker.successesWanted = isFlapping
    ? Math.min(breaker.successesWanted * 2, storeSuccessesMax)
    : successesToRecover
  breaker.down = true
  breaker.options.onDown(error)
}

function recordSuccess(breaker: Breaker): void {
  breaker.successes += 1
  if (!breaker.down || breaker.successes < breaker.successesWanted) return
  breaker.down = false
  breaker.refusal = ''
  breaker.probe = ''
  breaker.upMs = performance.now()
  breaker.options.onUp()
}

async function pingStore(breaker: Breaker, timeoutMs = breaker.options.timeoutMs): Promise<void> {
  const { connection } = breaker
  breaker.isPinging = true
  const reply = pingOrProbe(breaker).finally(() => (breaker.isPinging = false))
  const noteReply = (): void => void (breaker.lastReplyMs = performance.now())
  try {
    await withTimeout(reply, timeoutMs, noteReply)
    noteReply()
    recordSuccess(breaker)
  } catch (error) {
    const reason = messageOf(error)
    breaker.reason = reason
    // It is reachable; another connection would get the same answer. Redis answers even PING with
    // MISCONF.
    const refuses = isReply(error) && refusalPattern.test(reason)
    if (refuses) noteReply()
    recordFailure(
      breaker,
      refuses
        ? scriptFailedError(connection, probeScript, reason)
        : unreachableError(connection, reason),
    )
  }
}

async function pingOrProbe({ connection, probe }: Breaker): Promise<void> {
  await connection.ping()
  if (probe !== '') await connection.send(probeScript, [probe], [])
}

function heartbeat(breaker: Breaker): void {
  if (!breaker.isPinging) void pingStore(breaker)
  const nowMs = performance.now()
  const patienceMs = storeReconnectMs + breaker.options.timeoutMs
  if (!breaker.down || nowMs - breaker.lastReplyMs < patienceMs) return
  breaker.lastReplyMs = nowMs
  breaker.connection.reconnect()
}

function failureOf(
  breaker: Breaker,
  error: unknown,
  script: LuaScript,
  keys: readonly string[],
): IpriskError {
  const { connection } = breaker
  const reason = messageOf(error)
  if (isReply(error)) {
    const failure = scriptFailedError(connection, script, reason)
    if (failure.code === 'store_refuses' && !breaker.down) {
      breaker.probe = probeName(keys)
      recordFailure(breaker, failure)
    }
    return failure
  }
  breaker.reason = reason
  const unreachable = unreachableError(connection, reason)
  if (!breaker.isClosed) recordFailure(breaker, unreachable)
  const isUndone = error instanceof NotSentError || script.repeatable === true
  return isUndone ? unreachable : unknownOutcomeError(connection, script, reason)
}

/** Awaits the first ping; starts down if that fails. */
export async function openStoreCircuitBreaker(
  connection: StoreConnection,
  options: CircuitBreakerOptions,
) {
  const breaker = newBreaker(connection, options)
  const { timeoutMs, replicas } = options
  await pingStore(breaker, Math.max(timeoutMs, storeReconnectMs))
  const timer = setInterval(() => heartbeat(breaker), storeHeartbeatMs)
  timer.unref()
  return {
    /** Runs a script on keys of one hash tag; throws one of the four codes. */
    runScript: async (
      script: LuaScript,
      keys: readonly string[],
      args: readonly (string | number)[] = [],
      late?: (reply: unknown) => void,
    ): Promise<unknown> => {
      if (breaker.isClosed) throw unreachableError(connection, 'the connection is closed')
      if (breaker.down && breaker.refusal === '') throw unreachableError(connection, breaker.reason)
      if (breaker.down && script.reads !== true) {
        throw environmentError('store_refuses', breaker.refusal, { retryable: true })
      }
      try {
        return await withTimeout(connection.send(script, keys, args), timeoutMs, late)
      } catch (error) {
        throw failureOf(breaker, error, script, keys)
      }
    },
    down: () => breaker.down || breaker.isClosed,
    /** How the store should be configured; empty if all is well. */
    advice: async (): Promise<readonly string[]> =>
      storeAdvice(await withTimeout(connection.readInfo(), timeoutMs).catch(() => []), replicas),
    close: async (): Promise<void> => {
      breaker.isClosed = true
      clearInterval(timer)
      await connection.close()
    },
  }
}

// Startup advice about a store that may lose counts, from INFO of Redis and Valkey.

/** `replicas`: how many must have a lease before it counts. */
export function storeAdvice(infos: readonly string[], replicas: number): readonly string[] {
  const sentences = new Set<string>()
  for (const info of infos) {
    const lines = info.split(/\r?\n/)
    const valueOf = (name: string): string | undefined =>
      lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1)
    if (valueOf('aof_enabled') === '0') {
      sentences.add(
        'The store keeps no log of its changes (appendonly no): when it stops, it loses keys, ' +
          'own lists and quota counts since its last snapshot, or all of them without one: new keys ' +
          'get 401, revoked ones work again, quotas can be spent again. Set appendonly yes.',
      )
    }
    if (replicas === 0 && Number(valueOf('connected_slaves') ?? 0) > 0) {
      sentences.add(
        'The store has replicas, but leases do not wait for them: after a failover, units granted ' +
          'just before can be granted again. Set --store-replicas.',
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
