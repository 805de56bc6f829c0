// From checks to requests and back, coalesced as check-queue.ts decides. Each check settles once,
// with the result it would have had alone; one that times out or is aborted does not affect the
// others of its request.

import { batchPath, checkPath } from '../generated/wire-types.ts'
import { batchCharsMax, checkCharsMax } from '../transport/transport.ts'
import { limitWait, type OpenRequest } from './api-request.ts'
import { createCheckQueue } from './check-queue.ts'
import type { ClientFailure } from './outcome-report.ts'
import { type Meaning, meaningOf, type ServerState } from './reply-meaning.ts'
import type { TimerWheel } from './timer-wheel.ts'

/** After this long an older server may have been replaced. */
const olderServerMs = 600_000

export type CheckOutcome =
  | {
      readonly kind: 'answer'
      readonly body: unknown
      readonly chars: number
      readonly requestId: string | undefined
    }
  | { readonly kind: 'failure'; readonly failure: ClientFailure }

export interface AskedCheck {
  readonly ip: string
  readonly policy: string | undefined
  readonly insights: boolean
  /** Members of the body beside the address; `undefined` where there are none. */
  readonly context?: object | undefined
  readonly signal: AbortSignal | undefined
  readonly settle: (outcome: CheckOutcome) => void
}

interface WaitingCheck extends AskedCheck {
  isOver: boolean
  /** Its request drops it. */
  leave: (kind: 'timed_out' | 'aborted') => void
  stop: () => void
}

export interface CheckRequestParts {
  readonly timeoutMs: number
  readonly coalesces: boolean
  /** Answers name the prefix for which they hold. */
  readonly wantsPrefix: boolean
  readonly wheel: TimerWheel
  readonly now: () => number
  readonly open: OpenRequest
}

/** Throws a TypeError for an invalid `signal`. */
export function createCheckRequests(parts: CheckRequestParts): (asked: AskedCheck) => void {
  const { timeoutMs, wheel, now } = parts
  /** More than a key's burst allows is refused. */
  let togetherMax = 256
  const queue = createCheckQueue(send, () => togetherMax)
  /** The server does not support prefixes, or batches. */
  let olderUntil = 0
  /** The key's plan includes insights in every single answer, and in no batch. */
  let alwaysHasInsights = false

  function ask(asked: AskedCheck): void {
    const check = waitingCheck(asked)
    const giveUp = (kind: 'timed_out' | 'aborted'): void => {
      const { leave } = check
      settle(check, meaningOf({ kind }, timeoutMs))
      leave(kind)
    }
    check.stop = limitWait({ wheel, timeoutMs, signal: check.signal }, giveUp)
    if (check.signal?.aborted === true) giveUp('aborted')
    else if (isLone(check) || !parts.coalesces || alwaysHasInsights || now() < olderUntil) {
      send([check])
    } else queue.add(check)
  }

  /** `rest` goes when these are settled. */
  function send(checks: readonly WaitingCheck[], rest: readonly WaitingCheck[] = []): void {
    const asksPrefix = parts.wantsPrefix && now() >= olderUntil
    queue.begin()
    const abandon = parts.open(requestFor(checks, asksPrefix, timeoutMs), (meaning) => {
      queue.end()
      take({ checks, rest, askedPrefix: asksPrefix }, meaning)
    })
    let waiting = checks.length
    let server: ServerState = 'unknown'
    for (const check of checks) {
      check.leave = (kind) => {
        if (kind === 'timed_out') server = 'silent'
        waiting -= 1
        if (waiting > 0) return
        abandon(server)
        queue.end()
        sendFirst(togetherMax, rest)
      }
    }
  }

  function sendFirst(count: number, checks: readonly WaitingCheck[]): void {
    const left = checks.filter(({ isOver }) => !isOver)
    if (left.length > 0) send(left.slice(0, count), left.slice(count))
  }

  /** Settles the checks that still wait, or sends them again in another way. */
  function take({ checks, rest, askedPrefix }: SentChecks, meaning: Meaning): void {
    const isAlone = checks.length === 1
    const left = checks.filter(({ isOver }) => !isOver)
    const { param = '', failure } = meaning.kind === 'failure' ? meaning : noFailure
    const { status = 0, code } = failure
    const isOlder = askedPrefix && status === 400 && param === 'include'
    const isTooLarge = !isAlone && status === 400 && param === 'ips'
    if (isTooLarge || (!isAlone && code === 'api_quota_exceeded')) {
      const half = Math.ceil(checks.length / 2)
      if (isTooLarge) togetherMax = half
      // One after the other: the rest of a quota may be enough for some.
      for (const check of left) check.leave = nothing
      sendFirst(half, [...left, ...rest])
    } else if (isOlder || (!isAlone && [400, 404, 405].includes(status) && param !== 'policy')) {
      olderUntil = now() + olderServerMs
      for (const check of [...left, ...rest]) if (!check.isOver) send([check])
    } else if (meaning.kind === 'answer' && !isAlone) {
      settleRows(checks, meaning)
      sendFirst(togetherMax, rest)
    } else {
      alwaysHasInsights ||= hasUnaskedInsights(checks[0], meaning)
      // If a quota has nothing left for one, it has nothing for the others.
      const isSpent = code === 'api_quota_exceeded'
      for (const check of isSpent ? [...left, ...rest] : left) settle(check, meaning)
      if (!isSpent) sendFirst(togetherMax, rest)
    }
  }

  return ask
}

/** Batches have addresses alone. */
const isLone = ({ insights, context }: AskedCheck): boolean => insights || context !== undefined

function hasUnaskedInsights(check: WaitingCheck | undefined, meaning: Meaning): boolean {
  if (meaning.kind !== 'answer' || check === undefined || check.insights) return false
  return (meaning.body['insights'] ?? null) !== null
}

interface SentChecks {
  readonly checks: readonly WaitingCheck[]
  readonly rest: readonly WaitingCheck[]
  readonly askedPrefix: boolean
}

const noFailure = { param: undefined, failure: { status: 0, code: undefined } }

function requestFor(
  checks: readonly WaitingCheck[],
  asksPrefix: boolean,
  timeoutMs: number,
): Parameters<OpenRequest>[0] {
  const [{ ip, insights, policy, context }] = checks as readonly [WaitingCheck]
  const isAlone = checks.length === 1
  const includes = [...(insights ? ['insights'] : []), ...(asksPrefix ? ['prefix'] : [])]
  const query = includes.length === 0 ? '' : `?include=${includes.join(',')}`
  return {
    path: (isAlone ? checkPath : batchPath) + query,
    // What is undefined is left out.
    body: JSON.stringify(
      isAlone ? { ip, policy, ...context } : { ips: checks.map((one) => one.ip), policy },
    ),
    replyCharsMax: Math.min(batchCharsMax, checks.length * checkCharsMax),
    isHeavy: insights,
    timeoutMs,
  }
}

function settleRows(
  checks: readonly WaitingCheck[],
  { body, chars, requestId }: Extract<Meaning, { kind: 'answer' }>,
): void {
  const { results } = body
  const rows: readonly unknown[] = Array.isArray(results) ? results : []
  const each = Math.ceil(chars / checks.length)
  checks.forEach((check, at) => {
    const row = rows[at]
    if (typeof row !== 'object' || row === null || !('error' in row)) {
      settle(check, { kind: 'answer', body: row, chars: each, requestId })
      return
    }
    // What the check alone would be refused with.
    const reply = { kind: 'answered', status: 400, text: JSON.stringify(row), requestId } as const
    settle(check, meaningOf(reply, 0))
  })
}

function settle(check: WaitingCheck, outcome: CheckOutcome): void {
  if (check.isOver) return
  check.isOver = true
  check.leave = nothing
  check.stop()
  check.settle(outcome)
}

/** Spreading an object is slow here. */
function waitingCheck(asked: AskedCheck): WaitingCheck {
  const { ip, policy, insights, context, signal, settle } = asked
  const leave = nothing
  return { ip, policy, insights, context, signal, settle, isOver: false, leave, stop: leave }
}

const nothing = (): void => undefined
