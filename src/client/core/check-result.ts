// The result of a check through the client: an answer, or why there is none and what the
// application has configured for that case. The same for the API's client, the embedded table and
// the tests' fake, so that they are interchangeable.

import type { AgentRequest, CheckAnswer, Previous } from '../generated/wire-types.ts'

/** What to do with a request; policies may define actions besides these three. */
export type Action = 'allow' | 'challenge' | 'block' | (string & Record<never, never>)

/** What an operator's policy decides about an answer (contract 5.4: decision). */
export type Decision = NonNullable<CheckAnswer['decision']>

/** The action of a decision; `undefined` without one, which must not count as `allow`. */
export function actionIn(decision: unknown): Action | undefined {
  const { action } = (decision ?? {}) as { readonly action?: unknown }
  return typeof action === 'string' && action !== '' ? action : undefined
}

/** A check's answer, with the decision if the server has policies. */
export type Answer = CheckAnswer

export const failureReasons = [
  'timeout',
  'unavailable',
  'limited',
  'misconfigured',
  'invalid_address',
] as const
/**
 * `timeout`: no answer in time. `unavailable`: no answer available now. `limited`: the key's rate
 * or quota is used up. `misconfigured`: the server refuses what this application sends, and waiting
 * does not help. `invalid_address`: the input is not an address; nothing was sent.
 */
export type FailureReason = (typeof failureReasons)[number]

export interface Checked {
  readonly ok: true
  readonly answer: Answer
  /** Absent if the server has no policies: a score is not a decision. */
  readonly decision: Decision | undefined
  /** The id of the request to the server; absent for cached answers and in batches. */
  readonly requestId?: string | undefined
}

export interface Unchecked {
  readonly ok: false
  readonly reason: FailureReason
  /** What the application does without a decision, by its own configuration. */
  readonly fallback: Action
}

export type CheckResult = Checked | Unchecked

const contextCharsMax = { previous: 1000, agent: 8192 } as const

/** As JSON: what has none becomes null, which the server reports, and fails no check. */
export function sentContext(options: Pick<CheckOptions, 'previous' | 'agent'>) {
  const sent: Partial<Record<'previous' | 'agent', unknown>> = {}
  for (const name of ['previous', 'agent'] as const) {
    if (options[name] === undefined) continue
    try {
      const json = JSON.stringify(options[name])
      sent[name] = json.length > contextCharsMax[name] ? null : JSON.parse(json)
    } catch {
      sent[name] = null
    }
  }
  return Object.keys(sent).length === 0 ? undefined : sent
}

export interface CheckOptions {
  /** Ends the wait early; the result is then that of a timeout. */
  readonly signal?: AbortSignal
  /** The policy that decides; without it the key's default. */
  readonly policy?: string
  /** Asks for insights as well, if the key's plan includes them. */
  readonly insights?: boolean
  /**
   * Asks for `answer.travel`, which policies read. If something is wrong with it, the answer's
   * `context_errors` say what. Such a check is sent alone and is not cached.
   */
  readonly previous?: Previous
  /** Asks for `answer.agent`: who the visitor says it is. Sent alone and not cached, too. */
  readonly agent?: AgentRequest
  /**
   * If the application's setup hides the visitor's address: what is wrong. The result is then
   * `misconfigured` and reported, not `invalid_address`.
   */
  readonly noAddress?: string
  /**
   * The fallback for `limited` unless the client's options set it. The middlewares pass `challenge`
   * if the application has one. Default `allow`.
   */
  readonly whenLimited?: Action
}

/** A batch has no insights. */
export type BatchOptions = Pick<CheckOptions, 'signal' | 'policy'>

/** How an address turned out, for the operator's own statistics (contract 5.6: feedback). */
export interface Outcome {
  readonly ip: string
  readonly outcome: 'legitimate' | 'abusive'
  /** ISO 8601; default: now. */
  readonly at?: string
  readonly note?: string
  /** The `requestId` of the check; several reports about one request count once. */
  readonly request_id?: string
}

export type FeedbackResult =
  { readonly ok: true; readonly accepted: number } | Pick<Unchecked, 'ok' | 'reason'>

/** Counts since the client was created. */
export type ClientCounts = Readonly<Record<CountName, number>>
export type CountName =
  | ('checked' | 'cached' | 'retried' | 'hedged' | 'opened' | FailureReason)
  /** Counts of `report`. */
  | ('outcomes_sent' | 'outcomes_lost')

/** None of its functions throws or rejects. */
export interface Client {
  /** Checks one address. */
  check(ip: string, options?: CheckOptions): Promise<CheckResult>
  /** Checks many, each with a result of its own, in order. Not for use during a login. */
  checkBatch(ips: readonly string[], options?: BatchOptions): Promise<readonly CheckResult[]>
  /** Reports how at most 1,000 addresses turned out. Not for use during a login. */
  feedback(
    outcomes: readonly Outcome[],
    options?: Pick<CheckOptions, 'signal'>,
  ): Promise<FeedbackResult>
  /**
   * Reports how one login turned out, with the `requestId` of its check where there is one. It is
   * sent with others within a second, so no login waits; resolves to whether the server accepted
   * it. At an edge runtime, hand the promise to `waitUntil`.
   *
   * @example void client.report(ip, 'abusive', result.ok ? result.requestId : undefined)
   */
  report(ip: string, outcome: Outcome['outcome'], requestId?: string): Promise<boolean>
  counts(): ClientCounts
  /** Sends pending reports, then closes idle connections. Await it before the process ends. */
  close(): PromiseLike<void>
}
