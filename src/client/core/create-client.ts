// The client of the API, put together of its parts.
//
// Invariants: no function of it throws or rejects; everything that ends without an answer is
// counted and told; an answer comes without a decision only where no policy was named.

import { addressGroups } from '../address/address-text.ts'
import { batchAddressesMax, batchPath, checkPath } from '../generated/wire-types.ts'
import type { Transport } from '../transport/transport.ts'
import { createAnswerCache } from './answer-cache.ts'
import type {
  BatchOptions,
  CheckOptions,
  CheckResult,
  Client,
  FeedbackResult,
} from './check-result.ts'
import { type ClientOptions, clientSettings } from './client-options.ts'
import {
  answerIn,
  type ClientParts,
  createClientParts,
  noAnswer,
  notAnAddress,
  unexpected,
} from './client-parts.ts'
import { addressFailure, type ClientFailure, createOutcomeReport } from './outcome-report.ts'
import { monotonicMs } from './failure-log.ts'
import { createTelemetry, type Observe } from './open-telemetry.ts'

/** `runtime` makes the runtime's own transport, for options that name none. */
export function createClientOver(runtime: () => Transport, options: ClientOptions): Client {
  const settings = clientSettings(options)
  const { transport = runtime(), onMisconfigured, onUnavailable } = options
  const report = createOutcomeReport({ onMisconfigured, onUnavailable, now: monotonicMs })
  const parts = createClientParts(settings, transport, report)
  const observe = createTelemetry()
  return {
    check: createCheck(parts, observe),
    checkBatch: createCheckBatch(parts, observe),
    feedback: createFeedback(parts, observe),
    counts: report.counts,
    close: () => transport.close(),
  }
}

/** A check of one address, on the path of a login. */
function createCheck(parts: ClientParts, observe: Observe): Client['check'] {
  const { ask, checked, unchecked, report } = parts
  const { timeoutMs, cacheMs: keptMs, cacheMax: max } = parts.settings
  const cache = createAnswerCache({ max, keptMs, now: monotonicMs })

  async function judge(ip: string, options: CheckOptions): Promise<CheckResult> {
    const { signal, policy, insights = false } = options
    const terms = { ip, policy: policy ?? '', insights }
    const known = cache.find(terms)
    if (known !== undefined) {
      report.count('cached')
      return checked(known, policy)
    }
    const meaning = await ask({
      path: insights ? `${checkPath}?include=insights` : checkPath,
      body: policy === undefined ? { ip } : { ip, policy },
      timeoutMs,
      signal,
      isHeavy: insights,
    })
    if (meaning.kind === 'failure') return unchecked(meaning.failure, options)
    const answer = answerIn(meaning.body)
    if (answer === undefined) return unchecked(noAnswer)
    report.answered()
    const result = checked(answer, policy)
    if (result.ok) cache.keep(terms, answer)
    return result
  }

  return async (ip, options = {}) => {
    const end = observe('check')
    let result: CheckResult
    try {
      const isAddress = addressGroups(ip) !== undefined
      result = isAddress
        ? await judge(ip, options)
        : unchecked(addressFailure(options, notAnAddress))
    } catch (cause) {
      result = unchecked(unexpected(cause))
    }
    end(result.ok ? 'ok' : result.reason)
    return result
  }
}

/**
 * A batch: each address gets a result of its own, in order, as if it had been checked alone; what is
 * no address is not sent. More than one request takes are several requests, one after the other,
 * within the time of one batch; what fails fails for its addresses, and is told once.
 */
interface Part {
  readonly ips: readonly string[]
  readonly options: BatchOptions
  readonly timeoutMs: number
  /** Of the whole batch. */
  readonly told: Set<ClientFailure>
}

function createCheckBatch(parts: ClientParts, observe: Observe): Client['checkBatch'] {
  const { ask, checked, unchecked, report } = parts
  const { batchTimeoutMs } = parts.settings
  const outOfTime: ClientFailure = {
    reason: 'timeout',
    message: `Not all of the batch within ${batchTimeoutMs} ms.`,
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
      isHeavy: true,
    })
    if (meaning.kind === 'failure') return ips.map(() => unchecked(meaning.failure, { told }))
    const { results } = meaning.body
    const rows: readonly unknown[] = Array.isArray(results) ? results : []
    const answers = ips.map((_ip, at) => answerIn(rows[at]))
    if (answers.some((answer) => answer !== undefined)) report.answered()
    return answers.map((answer) =>
      answer === undefined ? unchecked(noAnswer, { told }) : checked(answer, policy, { told }),
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

/** Feedback on how addresses turned out (contract 5.6). */
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
    // The API refuses it; a report of nothing is no mistake.
    if (outcomes.length === 0) return { ok: true, accepted: 0 }
    const meaning = await ask({
      path: feedbackPath,
      body: { outcomes },
      timeoutMs: settings.batchTimeoutMs,
      signal: options?.signal,
      isHeavy: true,
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
