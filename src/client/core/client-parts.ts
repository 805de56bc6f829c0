// What checks, batches and feedback share: one way to ask the server, and one to end without an
// answer.

import type { Transport } from '../transport/transport.ts'
import type { Answer, CheckOptions, CheckResult, Decision, Unchecked } from './check-result.ts'
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'
import { type ClientSettings, uncheckedFor } from './client-options.ts'
import { monotonicMs } from './failure-log.ts'
import type { ClientFailure, FailTerms, OutcomeReport } from './outcome-report.ts'
import { type Meaning, meaningOf } from './reply-meaning.ts'
import { sendInTime } from './timely-request.ts'

export interface ApiRequest {
  readonly path: string
  readonly body: unknown
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** Insights and batches: a full pool may refuse them while plain checks are answered. */
  readonly isHeavy: boolean
}

export interface ClientParts {
  readonly settings: ClientSettings
  readonly report: OutcomeReport
  /** Never rejects, whatever the transport does. */
  readonly ask: (request: ApiRequest) => Promise<Meaning>
  /** Counts and reports the failure. */
  readonly unchecked: (failure: ClientFailure, terms?: UncheckedTerms) => Unchecked
  /** The answer, unless a policy was named and did not decide. */
  readonly checked: (
    answer: Answer,
    policy: string | undefined,
    terms?: UncheckedTerms,
  ) => CheckResult
}

export type UncheckedTerms = FailTerms & Pick<CheckOptions, 'whenLimited'>

export const notAnAddress: ClientFailure = {
  reason: 'invalid_address',
  message: 'What was to be checked is no IP address; nothing was sent.',
}
export const noAnswer: ClientFailure = {
  reason: 'unavailable',
  message: 'What answered is not the API: no answer in its form.',
}
const circuitOpen: ClientFailure = {
  reason: 'unavailable',
  message: 'The server did not answer just now; the next try is later.',
}
const noDecision: ClientFailure = {
  reason: 'misconfigured',
  message: 'A policy was named, but the answer has no decision: the server has no policies.',
}

export function createClientParts(
  settings: ClientSettings,
  transport: Transport,
  report: OutcomeReport,
): ClientParts {
  const { url, key, hedgeMs } = settings
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const newCircuit = (): CircuitBreaker =>
    createCircuitBreaker({
      failures: settings.circuitFailures,
      openMs: settings.circuitMs,
      now: monotonicMs,
      onOpen: () => report.count('opened'),
    })
  const circuits = { plain: newCircuit(), heavy: newCircuit() }
  const onRetry = (): void => report.count('retried')
  const onHedge = (): void => report.count('hedged')

  async function ask({ path, body, timeoutMs, signal, isHeavy }: ApiRequest): Promise<Meaning> {
    const circuit = isHeavy ? circuits.heavy : circuits.plain
    // Both throw before there is an admission, which must end.
    const text = JSON.stringify(body)
    if (signal && !('addEventListener' in signal)) {
      throw new TypeError('`signal` must be an AbortSignal.')
    }
    const admission = circuit.admit()
    if (admission === undefined) {
      return { kind: 'failure', failure: circuitOpen, server: 'unknown' }
    }
    const reply = await sendInTime(
      { url: url + path, headers, body: text },
      { transport, timeoutMs, hedgeMs, signal, onRetry, onHedge },
    )
    const meaning = meaningOf(reply, timeoutMs)
    const server = meaning.kind === 'answer' ? 'alive' : meaning.server
    if (server === 'alive') circuit.succeed()
    else if (server === 'silent') circuit.fail(admission)
    else circuit.withdraw(admission)
    return meaning
  }

  const unchecked: ClientParts['unchecked'] = (failure, terms) => {
    report.fail(failure, terms)
    return uncheckedFor(failure, settings.fallback, terms)
  }

  const checked: ClientParts['checked'] = (answer, policy, terms) => {
    const { decision } = answer
    if (decision === undefined && policy !== undefined) return unchecked(noDecision, terms)
    report.count('checked')
    return { ok: true, answer, decision }
  }

  return { settings, report, ask, unchecked, checked }
}

/** The body, if it has the members of an answer and its decision, if any, has an action. */
export function answerIn(body: unknown): Answer | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const { classification, risk_score: score, table, decision } = body as Partial<Answer>
  const isAnswer =
    typeof classification === 'string' &&
    typeof score === 'number' &&
    typeof table === 'string' &&
    (decision === undefined || typeof (decision as Decision | null)?.action === 'string')
  return isAnswer ? (body as Answer) : undefined
}

/** What no part of the client expects to happen. */
export function unexpected(cause: unknown): ClientFailure {
  const message = cause instanceof Error ? cause.message : 'The check failed.'
  return { reason: 'unavailable', message, cause }
}
