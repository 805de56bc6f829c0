// The client of the API, assembled from its parts.
// Invariants: none of its functions throws or rejects; everything that ends without an answer is
// counted and reported; an answer comes without a decision only if no policy was named.

import { addressGroups, isSameAddress } from '../address/address-text.ts'
import { batchAddressesMax, batchPath, checkPath } from '../generated/wire-types.ts'
import { batchCharsMax, checkCharsMax, type Transport } from '../transport/transport.ts'
import { type CacheTerms, createAnswerCache } from './answer-cache.ts'
import { type Ask, askBy, createOpenRequest } from './api-request.ts'
import {
  type Answer,
  type BatchOptions,
  type CheckOptions,
  type CheckResult,
  type Client,
  type FeedbackResult,
  type Unchecked,
  actionIn,
  sentContext,
} from './check-result.ts'
import { type CheckOutcome, type CheckRequestParts, createCheckRequests } from './check-requests.ts'
import {
  type ClientOptions,
  clientSettings,
  type ClientSettings,
  uncheckedFor,
} from './client-options.ts'
import { monotonicMs } from './failure-log.ts'
import { createTelemetry, type Observe } from './open-telemetry.ts'
import { createOutcomeQueue } from './outcome-queue.ts'
import {
  addressFailure,
  type ClientFailure,
  createOutcomeReport,
  type FailTerms,
  type OutcomeReport,
} from './outcome-report.ts'
import { createOwnTimers, createTimerWheel } from './timer-wheel.ts'

/** What a runtime provides for a client. */
export interface Runtime {
  readonly createTransport: () => Transport
  /** False if timers and sockets end with the request that opened them. */
  readonly sharesTimers: boolean
}

/** `runtime` makes the runtime's own transport, unless the options name one. */
export function createClientOver(runtime: Runtime, options: ClientOptions): Client {
  const { sharesTimers } = runtime
  const settings = clientSettings(options, sharesTimers)
  const { transport = runtime.createTransport(), onMisconfigured, onUnavailable } = options
  const report = createOutcomeReport({ onMisconfigured, onUnavailable, now: monotonicMs })
  const wheel = sharesTimers ? createTimerWheel(monotonicMs) : createOwnTimers()
  const parts = createClientParts({ settings, transport, report, wheel })
  const observe = createTelemetry()
  const feedback = createFeedback(parts, observe)
  const outcomes = createOutcomeQueue({ send: feedback, report, gathers: sharesTimers })
  return {
    check: createCheck(parts, observe),
    checkBatch: createCheckBatch(parts, observe),
    feedback,
    report: outcomes.report,
    counts: report.counts,
    close: async () => {
      await outcomes.close()
      transport.close()
    },
  }
}

function createCheck(parts: ClientParts, observe: Observe): Client['check'] {
  const { checked, unchecked, report } = parts
  const { timeoutMs, coalesce: coalesces, cacheMs: keptMs, cacheMax: max } = parts.settings
  const now = monotonicMs
  const cache = createAnswerCache({ max, keptMs, now })
  const wantsPrefix = max > 0 && keptMs > 0
  const askCheck = createCheckRequests({ ...parts, timeoutMs, coalesces, wantsPrefix, now })

  function resultOf(outcome: CheckOutcome, terms: CacheTerms, options: CheckOptions): CheckResult {
    if (outcome.kind === 'failure') return unchecked(outcome.failure, options)
    const wrong = mistakeIn(outcome.body, terms)
    if (wrong !== undefined) return unchecked(wrong, options)
    report.answered()
    const answer = outcome.body as Answer
    const result = checked(answer, options.policy, options, outcome.requestId)
    if (result.ok && sentContext(options) === undefined) cache.keep(terms, answer, outcome.chars)
    return result
  }

  /** At once, or later; neither throws nor rejects. */
  function judge(ip: string, options: CheckOptions): CheckResult | Promise<CheckResult> {
    if (addressGroups(ip) === undefined) return unchecked(addressFailure(options, notAnAddress))
    const { signal, policy, insights = false } = options
    if (!['string', 'undefined'].includes(typeof policy)) return unchecked(wrongPolicy)
    const terms = { ip, policy: policy ?? '', insights }
    const context = sentContext(options)
    const known = context === undefined ? cache.find(terms) : undefined
    if (known !== undefined) {
      report.count('cached')
      return checked(known, policy)
    }
    return new Promise((resolve) => {
      const settle = (outcome: CheckOutcome): void => {
        try {
          resolve(resultOf(outcome, terms, options))
        } catch (cause) {
          resolve(unchecked(unexpected(cause)))
        }
      }
      askCheck({ ip, policy, insights, context, signal, settle })
    })
  }

  return async (ip, options = {}) => {
    const end = observe('check')
    let result: CheckResult
    try {
      result = await judge(ip, options)
    } catch (cause) {
      result = unchecked(unexpected(cause))
    }
    end(result.ok ? 'ok' : result.reason)
    return result
  }
}

// A batch: each address gets a result of its own, in order, as if checked alone; invalid addresses
// are not sent. More addresses than one request takes become several requests, one after the other,
// within the time of one batch; a failure applies to its addresses, and is reported once.

interface Part {
  readonly ips: readonly string[]
  readonly options: BatchOptions
  readonly timeoutMs: number
  /** For the whole batch. */
  readonly told: Set<ClientFailure>
}

function createCheckBatch(parts: ClientParts, observe: Observe): Client['checkBatch'] {
  const { ask, checked, unchecked, report } = parts
  const { batchTimeoutMs } = parts.settings
  const outOfTime: ClientFailure = {
    reason: 'timeout',
    message: `The batch did not complete within ${batchTimeoutMs} ms.`,
  }

  async function checkPart(part: Part): Promise<readonly CheckResult[]> {
    const { ips, options, timeoutMs, told } = part
    const { signal, policy } = options
    if (timeoutMs <= 0) return ips.map(() => unchecked(outOfTime, { told }))
    const meaning = await ask({
      path: batchPath,
      body: policy === undefined ? { ips } : { ips, policy },
      timeoutMs,
      signal,
      replyCharsMax: Math.min(batchCharsMax, ips.length * checkCharsMax),
    })
    if (meaning.kind === 'failure') return ips.map(() => unchecked(meaning.failure, { told }))
    const { results } = meaning.body
    const rows: readonly unknown[] = Array.isArray(results) ? results : []
    const wrong = ips.map((ip, at) => mistakeIn(rows[at], { ip, policy }))
    if (wrong.includes(undefined)) report.answered()
    return wrong.map((failure, at) =>
      failure === undefined
        ? checked(rows[at] as Answer, policy, { told })
        : unchecked(failure, { told }),
    )
  }

  return async (given: readonly string[], options = {}) => {
    const end = observe('batch')
    const until = monotonicMs() + batchTimeoutMs
    const told = new Set<ClientFailure>()
    // Callers without types come here, too.
    const all = Array.isArray(given) ? [...(given as readonly string[])] : []
    const isAddress = all.map((ip) => addressGroups(ip) !== undefined)
    const addresses = all.filter((_ip, at) => isAddress[at])
    const found: CheckResult[] = []
    while (found.length < addresses.length) {
      const ips = addresses.slice(found.length, found.length + batchAddressesMax)
      try {
        const timeoutMs = Math.round(until - monotonicMs())
        found.push(...(await checkPart({ ips, options, timeoutMs, told })))
      } catch (cause) {
        const failure = unexpected(cause)
        found.push(...ips.map(() => unchecked(failure, { told })))
      }
    }
    let next = 0
    const results = isAddress.map((is) => (is ? found[next++]! : unchecked(notAnAddress)))
    end(results.every(({ ok }) => ok) ? 'ok' : 'partly')
    return results
  }
}

// Feedback on how addresses turned out (contract 5.6: feedback).

const feedbackPath = checkPath.replace(/check$/, 'feedback')

function createFeedback(parts: ClientParts, observe: Observe): Client['feedback'] {
  const { ask, unchecked, report, settings } = parts
  const failed = (failure: ClientFailure): FeedbackResult => {
    const { ok, reason } = unchecked(failure, { isFeedback: true })
    return { ok, reason }
  }

  async function send(
    outcomes: Parameters<Client['feedback']>[0],
    options: Parameters<Client['feedback']>[1],
  ): Promise<FeedbackResult> {
    // The API would refuse it; an empty report is not a mistake.
    if (outcomes.length === 0) return { ok: true, accepted: 0 }
    const meaning = await ask({
      path: feedbackPath,
      body: { outcomes },
      timeoutMs: settings.batchTimeoutMs,
      signal: options?.signal,
      replyCharsMax: checkCharsMax,
    })
    if (meaning.kind === 'failure') return failed(meaning.failure)
    const { accepted } = meaning.body
    if (typeof accepted !== 'number') return failed(noAnswer)
    report.answered(true)
    return { ok: true, accepted }
  }

  return async (outcomes, options) => {
    const end = observe('feedback')
    const result = await send(outcomes, options).catch((cause: unknown) =>
      failed(unexpected(cause)),
    )
    end(result.ok ? 'ok' : result.reason)
    return result
  }
}

/** What checks, batches and feedback share: one way to ask, and one to end without an answer. */
interface ClientParts extends Pick<CheckRequestParts, 'open' | 'wheel'> {
  readonly settings: ClientSettings
  readonly report: OutcomeReport
  /** For batches and feedback. Never rejects, whatever the transport does. */
  readonly ask: Ask
  readonly unchecked: (failure: ClientFailure, terms?: UncheckedTerms) => Unchecked
  /** The answer, unless a policy was named and did not decide. */
  readonly checked: (
    answer: Answer,
    policy: string | undefined,
    terms?: UncheckedTerms,
    requestId?: string,
  ) => CheckResult
}

type UncheckedTerms = FailTerms & Pick<CheckOptions, 'whenLimited'>

const notAnAddress: ClientFailure = {
  reason: 'invalid_address',
  message: 'The value to check is not an IP address; nothing was sent.',
}
const wrongPolicy: ClientFailure = {
  reason: 'misconfigured',
  message: '`policy` must be a string; nothing was sent.',
}
const noAnswer: ClientFailure = {
  reason: 'unavailable',
  message: 'The reply does not come from the API: its format is different.',
}
const otherAnswer: ClientFailure = {
  reason: 'unavailable',
  message: 'The answer is for a different address or policy; check the proxies in between.',
}
const noDecision: ClientFailure = {
  reason: 'misconfigured',
  message: 'A policy was named, but the answer has no decision: the server has no policies.',
}

function createClientParts(
  given: Pick<ClientParts, 'settings' | 'report' | 'wheel'> & { readonly transport: Transport },
): ClientParts {
  const { settings, report, wheel } = given
  const open = createOpenRequest({ ...given, now: monotonicMs })
  const unchecked: ClientParts['unchecked'] = (failure, terms) => {
    report.fail(failure, terms)
    return uncheckedFor(failure, settings.fallback, terms)
  }

  const checked: ClientParts['checked'] = (answer, policy, terms, requestId) => {
    const { decision } = answer
    if (decision === undefined && policy !== undefined) return unchecked(noDecision, terms)
    report.count('checked')
    return { ok: true, answer, decision, requestId }
  }

  const ask = askBy(open, wheel)
  return { settings, report, wheel, open, ask, unchecked, checked }
}

/** Why a body is not an answer to the request: it lacks a member, or answers something else. */
function mistakeIn(
  body: unknown,
  { ip, policy = '' }: { readonly ip: string; readonly policy: string | undefined },
): ClientFailure | undefined {
  const given = (body ?? {}) as Partial<Answer>
  const { classification, risk_score: score, table, decision } = given
  const isAnswer =
    typeof classification === 'string' &&
    typeof score === 'number' &&
    score >= 0 &&
    score <= 100 &&
    typeof table === 'string' &&
    (decision === undefined || actionIn(decision) !== undefined)
  if (!isAnswer) return noAnswer
  const isBySame = policy === '' || decision === undefined || decision.policy === policy
  return isBySame && isSameAddress(given.ip, ip) ? undefined : otherAnswer
}

function unexpected(cause: unknown): ClientFailure {
  const message = cause instanceof Error ? cause.message : 'The check failed.'
  return { reason: 'unavailable', message, cause }
}
