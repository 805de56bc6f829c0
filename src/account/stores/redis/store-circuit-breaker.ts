// A process's connection to a store for many machines, as the rest of src/account sees it: scripts
// run, or fail soon. The connection itself is redis-connection.ts; here is whether the store is there.
//
//   up ── a look or a script fails, or is too late ──▶ down ── two looks in a row succeed ──▶ up
//   up ── the store refuses all changes ──▶ down, but for reading ── it takes one ──▶ up
//
// Looks happen every `storeBeatMs`. While the store is down every script fails at once: nobody
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
import { storeBeatMs, storeGoodLooksMax, storeReconnectMs } from '../../../base/limits.ts'
import { cautionsOf } from './store-advice.ts'
import { type Script, probeScript } from './lua-scripts.ts'

export interface StoreLink {
  /** Runs a script on keys of one hash tag; fails with one of the four codes. */
  readonly run: (
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    late?: (reply: unknown) => void,
  ) => Promise<unknown>
  readonly down: () => boolean
  /** What an operator should know of how the store is set up; empty where all is well. */
  readonly cautions: () => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

/** What redis-connection.ts has: one connection, which mends itself. */
export interface Wire {
  /** As it may be shown. */
  readonly name: string
  /** Fails with `NotSentError` where it did not even try. */
  readonly send: (
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ) => Promise<unknown>
  /** Rejects where any part of the store is not there. */
  readonly look: () => Promise<void>
  /** What each server of the store tells of itself: `name:value` lines. */
  readonly inspect: () => Promise<readonly string[]>
  /** Gives up what it has and connects anew. */
  readonly reconnect: () => void
  readonly close: () => Promise<void>
}

export interface LinkOptions {
  readonly timeoutMs: number
  /** How many replicas must have what is kept. */
  readonly replicas: number
  readonly onDown: (error: IpriskError) => void
  readonly onUp: () => void
}

function unreachable(wire: Wire, cause: string): IpriskError {
  // Without the cause itself: a client's errors may carry the command, and that the password.
  return new IpriskError({
    code: 'store_unreachable',
    message: `The store ${wire.name} cannot be reached: ${cause}.`,
    fault: 'environment',
    retryable: true,
  })
}

function unknown(wire: Wire, { name }: Script, cause: string): IpriskError {
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

/** Why a store takes no changes at all for a while; older ones say it inside of a script's error. */
const refusals = /\b(OOM|MISCONF|READONLY|LOADING|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|BUSY)\b/

function failed(wire: Wire, { name }: Script, reason: string): IpriskError {
  const message = `The store ${wire.name} refuses to ${name}: ${reason}.`
  if (refusals.test(reason)) return refusing(message)
  return new IpriskError({ code: 'store_failed', message, fault: 'environment', retryable: true })
}

function refusing(message: string): IpriskError {
  return new IpriskError({ code: 'store_refuses', message, fault: 'environment', retryable: true })
}

/** A name beside the first of `keys`, on the same node. */
const probeName = ([key = '']: readonly string[]): string =>
  `iprisk:${/\{[^}]*\}/.exec(key)?.[0] ?? '{}'}:try`

/** Resolves as `work` does, or rejects after `ms`. What `work` gives afterwards goes to `late`. */
async function within<T>(work: Promise<T>, ms: number, late?: (value: T) => void): Promise<T> {
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
interface Sight {
  down: boolean
  /** Looks in a row that have succeeded. */
  good: number
  /** How many of them bring a store back that is down; and when it came back last. */
  goodWanted: number
  upMs: number
  /** When the look that is under way began; -1: none is. */
  askedMs: number
  /** When there was an answer last, or a new connection was made for the lack of one. */
  heardMs: number
  /** Why the store takes no changes, while it is there to say so; else `''`. */
  refusal: string
  /** What to write to see whether it takes them again; `''` where it has not refused. */
  probe: string
}

/** One good answer of a store that is slow at the edge of its time would not last. */
const goodLooks = 2

/** A store that has gone soon after it came back must be good for longer each time. */
const soonMs = 10_000

function miss(sight: Sight, options: LinkOptions, error: IpriskError): void {
  sight.good = 0
  sight.refusal = error.code === 'store_refuses' ? error.message : ''
  if (sight.down) return
  const soon = performance.now() - sight.upMs < soonMs
  sight.goodWanted = soon ? Math.min(sight.goodWanted * 2, storeGoodLooksMax) : goodLooks
  sight.down = true
  options.onDown(error)
}

function hit(sight: Sight, options: LinkOptions): void {
  sight.good += 1
  if (!sight.down || sight.good < sight.goodWanted) return
  sight.down = false
  sight.refusal = ''
  sight.probe = ''
  sight.upMs = performance.now()
  options.onUp()
}

/** Resolves when it is known whether the store answers in time; a late answer is worth nothing. */
async function look(
  wire: Wire,
  sight: Sight,
  options: LinkOptions,
  timeoutMs = options.timeoutMs,
): Promise<void> {
  sight.askedMs = performance.now()
  const answer = lookOrTry(wire, sight).finally(() => (sight.askedMs = -1))
  const hear = (): void => void (sight.heardMs = performance.now())
  try {
    await within(answer, timeoutMs, hear)
    hear()
    hit(sight, options)
  } catch (error) {
    const reason = messageOf(error)
    // It is there, and another connection would hear the same.
    const refuses = isReply(error) && refusals.test(reason)
    if (refuses) sight.heardMs = performance.now()
    // Redis answers even PING with MISCONF.
    miss(sight, options, refuses ? failed(wire, probeScript, reason) : unreachable(wire, reason))
  }
}

/** Whether the store is there, and where it took no changes: whether it takes them again. */
async function lookOrTry(wire: Wire, sight: Sight): Promise<void> {
  await wire.look()
  if (sight.probe !== '') await wire.send(probeScript, [sight.probe], [])
}

function beat(wire: Wire, sight: Sight, options: LinkOptions): void {
  if (sight.askedMs < 0) void look(wire, sight, options)
  const nowMs = performance.now()
  if (!sight.down || nowMs - sight.heardMs < storeReconnectMs + options.timeoutMs) return
  sight.heardMs = nowMs
  wire.reconnect()
}

/** A link over a wire; it is down when the first look, which this waits for, fails. */
export async function openLink(wire: Wire, options: LinkOptions): Promise<StoreLink> {
  const sight: Sight = {
    down: false,
    good: 0,
    goodWanted: goodLooks,
    upMs: -Infinity,
    askedMs: -1,
    heardMs: performance.now(),
    refusal: '',
    probe: '',
  }
  let closed = false
  /** What a failure means for its caller, and for everybody. */
  const judge = (error: unknown, script: Script, keys: readonly string[]): IpriskError => {
    const reason = messageOf(error)
    if (isReply(error)) {
      const told = failed(wire, script, reason)
      if (told.code === 'store_refuses' && !sight.down) {
        sight.probe = probeName(keys)
        miss(sight, options, told)
      }
      return told
    }
    const gone = unreachable(wire, reason)
    if (!closed) miss(sight, options, gone)
    const undone = error instanceof NotSentError || script.repeatable === true
    return undone ? gone : unknown(wire, script, reason)
  }
  await look(wire, sight, options, Math.max(options.timeoutMs, storeReconnectMs))
  const timer = setInterval(() => beat(wire, sight, options), storeBeatMs)
  timer.unref()
  return {
    run: async (script, keys, args, late) => {
      if (closed) throw unreachable(wire, 'the connection is closed')
      if (sight.down && sight.refusal === '') {
        throw unreachable(wire, 'it did not answer the last time')
      }
      if (sight.down && script.reads !== true) throw refusing(sight.refusal)
      try {
        return await within(wire.send(script, keys, args), options.timeoutMs, late)
      } catch (error) {
        throw judge(error, script, keys)
      }
    },
    down: () => sight.down || closed,
    cautions: async () =>
      cautionsOf(await within(wire.inspect(), options.timeoutMs).catch(() => []), options.replicas),
    close: async () => {
      closed = true
      clearInterval(timer)
      await wire.close()
    },
  }
}
