// `iprisk-client/testing`: a client for the tests of an application, with chosen answers, decisions
// and faults. It sends nothing. Like the real one it checks the address, applies the fallback, and
// counts.

import { addressGroups } from '../address/address-text.ts'
import {
  type Action,
  type Answer,
  type CheckOptions,
  type CheckResult,
  type Client,
  type FailureReason,
  type Outcome,
  failureReasons,
} from '../core/check-result.ts'
import { type ClientOptions, fallbackFor, uncheckedFor } from '../core/client-options.ts'
import { monotonicMs } from '../core/failure-log.ts'
import { addressFailure, type ClientFailure, createOutcomeReport } from '../core/outcome-report.ts'

/** A failure, or members of the answer with the decision's action; the others are those of a clean one. */
export type FakeAnswer = FailureReason | (Partial<Answer> & { readonly action?: Action })

/** What each address gets; `*` stands for all others, which are clean by default. */
export type FakeAnswers = Readonly<Record<string, FakeAnswer>>

export interface FakeOptions extends Pick<
  ClientOptions,
  'fallback' | 'onMisconfigured' | 'onUnavailable'
> {
  /** How long an answer takes, in milliseconds. Default 0. */
  readonly delayMs?: number
}

export interface FakeClient extends Client {
  /** The checks, in order. */
  readonly asked: readonly { readonly ip: string; readonly options: CheckOptions }[]
  /** What was reported. */
  readonly outcomes: readonly Outcome[]
  /** Changes the answers from now on. */
  answer(ip: string, answer: FakeAnswer): void
}

/** @example createFakeClient({ '203.0.113.7': { action: 'challenge' }, '*': 'timeout' }) */
export function createFakeClient(answers: FakeAnswers = {}, options: FakeOptions = {}): FakeClient {
  const said = new Map(Object.entries(answers))
  const fallback = fallbackFor(options.fallback)
  const ignore = (): void => undefined
  const { onMisconfigured = ignore, onUnavailable = ignore, delayMs = 0 } = options
  const report = createOutcomeReport({ onMisconfigured, onUnavailable, now: monotonicMs })
  const asked: { readonly ip: string; readonly options: CheckOptions }[] = []
  const outcomes: Outcome[] = []

  function failed(failure: ClientFailure, options: CheckOptions): CheckResult {
    report.fail(failure)
    return uncheckedFor(failure, fallback, options)
  }

  function resultOf(ip: string, options: CheckOptions): CheckResult {
    const message = 'Set by the test.'
    if (addressGroups(ip) === undefined) {
      return failed(addressFailure(options, { reason: 'invalid_address', message }), options)
    }
    if (options.signal?.aborted === true) return failed({ reason: 'timeout', message }, options)
    const fake = said.get(ip) ?? said.get('*') ?? {}
    if (typeof fake === 'string') return failed({ reason: fake, message }, options)
    const { policy } = options
    const { action, ...members } = fake
    const chosen = action === undefined ? undefined : { action, rule: 'fake', policy: policy ?? '' }
    const named = policy === undefined ? undefined : { action: 'allow', rule: '', policy }
    const decision = members.decision ?? chosen ?? named
    report.count('checked')
    const answer = { ...cleanAnswer(ip), ...members, ...(decision ? { decision } : {}) }
    return { ok: true, answer, decision }
  }

  const check: Client['check'] = async (ip, options = {}) => {
    asked.push({ ip, options })
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    return resultOf(ip, options)
  }
  return {
    asked,
    outcomes,
    check,
    checkBatch: (ips, options = {}) => Promise.all(ips.map((ip) => check(ip, options))),
    feedback: (reported) => {
      outcomes.push(...reported)
      return Promise.resolve({ ok: true, accepted: reported.length })
    },
    report: (ip, outcome, id) => {
      outcomes.push({ ip, outcome, ...(id === undefined ? {} : { request_id: id }) })
      return Promise.resolve(true)
    },
    counts: report.counts,
    close: () => Promise.resolve(),
    answer: (ip, answer) => {
      said.set(ip, answer)
    },
  }
}

/** An ordinary address without findings. */
function cleanAnswer(ip: string): Answer {
  return {
    classification: 'clean',
    risk_level: 'low',
    risk_score: 0,
    ip,
    version: ip.includes(':') ? 6 : 4,
    network: null,
    location: null,
    proxy: null,
    bot: null,
    signals: {
      bogon: false,
      proxy: false,
      vpn: false,
      tor: false,
      hosting: false,
      residential_proxy: false,
      blocklist_match: false,
      relay: false,
      mobile: false,
    },
    reasons: [],
    table: 'fake',
  }
}

export { failureReasons }
