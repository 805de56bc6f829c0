// `iprisk/embedded`: the client of `iprisk-client`, without a server: answers come from the table
// file in this process. An application that had `createClient({ url, key })` has `createEmbedded({
// table })` and changes nothing else; the middlewares take either.
//
// The file is watched, and a new one that can be opened replaces the old one. Answers come from a
// private copy (open-copied-table.ts), so overwriting the file in place is harmless: until it is
// complete, the previous table answers. Without a table, checks are `unavailable`.
//
// A check takes microseconds on the application's own loop, insights about half a millisecond. The
// first table is opened before `createEmbedded` returns, later ones in steps of a few milliseconds.

import type { CheckAnswer } from '../api/check-answer.ts'
import type { InsightsAnswer } from '../api/insights-answer.ts'
import { messageOf } from '../base/coded-error.ts'
import {
  actionIn,
  type Answer,
  type Checked,
  type CheckOptions,
  type CheckResult,
  type Client,
  type Decision,
  type FeedbackResult,
  type Outcome,
  sentContext,
  type Unchecked,
} from '../client/core/check-result.ts'
import { type ClientOptions, fallbackFor, uncheckedFor } from '../client/core/client-options.ts'
import { monotonicMs, tell } from '../client/core/failure-log.ts'
import { createOutcomeQueue } from '../client/core/outcome-queue.ts'
import {
  addressFailure,
  type ClientFailure,
  createOutcomeReport,
  type FailTerms,
} from '../client/core/outcome-report.ts'
import type { JsonObject } from '../base/json-object.ts'
import { fileIdentity, watchFile } from '../base/system/file-watch.ts'
import { contextAnswer, contextOf } from '../context/context.ts'
import { newQuery, parseQuery } from '../table/lookup/query.ts'
import { prefixText } from '../table/answer/answer-prefix.ts'
import type { answerWithInsights } from '../table/explain/insights.ts'
import {
  type CopiedTable,
  openCopiedTable,
  openCopiedTableInSteps,
} from '../table/open-copied-table.ts'
import type { EmbeddedPolicies } from './embedded-policies.ts'

export interface EmbeddedOptions extends Pick<
  ClientOptions,
  'fallback' | 'onMisconfigured' | 'onUnavailable'
> {
  /** The path of the table file. */
  readonly table: string
  /** As in `openTable`: `false` maps the file itself, not a private copy. Default true. */
  readonly copy?: boolean
  /**
   * The path of a policies file (docs/decide.md); it decides, and is watched like the table.
   * `onMisconfigured` gets its warnings.
   */
  readonly policies?: string
  /** How often to look for a new one. Default 1,000 milliseconds. */
  readonly watchMs?: number
  /**
   * Decides by the application's own rules, if there are no `policies`; `undefined`: there is no
   * such policy. Without either there are no decisions, and naming a policy is a mistake.
   */
  readonly decide?: (answer: Answer, policy: string | undefined) => Decision | undefined
  /**
   * Receives the application's reports. Without it feedback is a mistake; if it throws or rejects,
   * feedback is `unavailable`.
   */
  readonly onFeedback?: (outcomes: readonly Outcome[]) => unknown
  /** Another table answers from now on. Its errors are ignored. */
  readonly onSwap?: (id: string) => unknown
  /** A new file is not a valid table or policies file; the previous one stays in use. Errors as in
   * `onSwap`. */
  readonly onRefused?: (failure: ClientFailure) => unknown
}

const failures = {
  address: { reason: 'invalid_address', message: 'The value to check is not an IP address.' },
  decision: { reason: 'misconfigured', message: 'A policy was named, but there are no policies.' },
  action: { reason: 'misconfigured', message: '`decide` returned a decision without an `action`.' },
  feedback: { reason: 'misconfigured', message: 'Nothing receives feedback: set `onFeedback`.' },
} as const satisfies Readonly<Record<string, ClientFailure>>

/**
 * Throws a TypeError if `fallback` is wrong. A table that cannot be opened is reported, and
 * awaited.
 */
export function createEmbedded(options: EmbeddedOptions): Client {
  const { table: path, decide, onFeedback, onMisconfigured, onUnavailable } = options
  const fallback = fallbackFor(options.fallback ?? {})
  const report = createOutcomeReport({ onMisconfigured, onUnavailable, now: monotonicMs })
  const tables = watchTable(path, options)
  const parts = createLazyParts(options)
  const judge = createJudge(tables, parts, decide)

  const unchecked = (failure: ClientFailure, terms: FailTerms): Unchecked => {
    report.fail(failure, terms)
    return uncheckedFor(failure, fallback)
  }

  const check = (ip: string, given: CheckOptions, told: Set<ClientFailure>): CheckResult => {
    let judged: Checked | ClientFailure
    try {
      judged = judge(ip, given)
    } catch (cause) {
      judged = thrown(cause)
    }
    if (!('ok' in judged)) return unchecked(judged, { told })
    report.answered()
    report.count('checked')
    return judged
  }

  const checkAll = (
    ips: readonly string[],
    given?: CheckOptions,
  ): Promise<readonly CheckResult[]> => {
    const told = new Set<ClientFailure>()
    const all = (): readonly CheckResult[] => ips.map((ip) => check(ip, given ?? {}, told))
    const none = (failure: ClientFailure): readonly CheckResult[] =>
      ips.map(() => unchecked(failure, { told }))
    // Callers without types come here, too.
    const loading = parts.load({ insights: given?.insights === true })
    return loading === undefined
      ? Promise.resolve(all())
      : loading.then(all, (cause: unknown) => none(thrown(cause)))
  }

  const feedback = async (outcomes: readonly Outcome[]): Promise<FeedbackResult> => {
    const accepted = await handOn(outcomes, onFeedback)
    if (typeof accepted !== 'number') {
      const { ok, reason } = unchecked(accepted, { isFeedback: true })
      return { ok, reason }
    }
    report.answered(true)
    return { ok: true, accepted }
  }
  const outcomes = createOutcomeQueue({ send: feedback, report, gathers: true })

  return {
    check: async (ip, given) => (await checkAll([ip], given))[0]!,
    // Callers without types come here, too.
    checkBatch: (ips: readonly string[], given) => checkAll(Array.isArray(ips) ? ips : [], given),
    feedback,
    report: outcomes.report,
    counts: report.counts,
    close: () => {
      tables.close()
      parts.close()
      return outcomes.close()
    },
  }
}

/** The result of a check, not yet counted or reported. */
type Judge = (ip: string, options: CheckOptions) => Checked | ClientFailure

function createJudge(
  tables: ReturnType<typeof watchTable>,
  parts: ReturnType<typeof createLazyParts>,
  decide: EmbeddedOptions['decide'],
): Judge {
  /** `undefined`: no such policy, or none at all. */
  function decided(answer: CheckAnswer, policy: string | undefined): Answer | undefined {
    const policies = parts.policies()
    if (policies !== undefined) return policies.decided(answer, policy)
    const decision = decide?.(answer, policy)
    if (decision !== undefined) return { ...answer, decision }
    return policy === undefined ? answer : undefined
  }

  return (ip, options) => {
    const { policy, insights = false } = options
    const sent = sentContext(options)
    const { open, failure } = tables.current()
    if (open === undefined) return failure
    // A value that is not a text is not an address; callers without types come here, too.
    const explain = insights ? parts.explain() : undefined
    const found = typeof ip === 'string' ? answerOf(open, ip, explain, sent) : undefined
    if (found === undefined) return addressFailure(options, failures.address)
    const failed = parts.policies()?.failure()
    if (failed !== undefined) return failed
    const answer = decided(found, policy)
    if (answer === undefined) return failures.decision
    const { decision } = answer
    if (decision !== undefined && actionIn(decision) === undefined) return failures.action
    return { ok: true, answer, decision }
  }
}

const thrown = (cause: unknown): ClientFailure => ({
  reason: 'unavailable',
  message: messageOf(cause),
  cause,
})

/** How many outcomes the application accepted, or why none. */
async function handOn(
  outcomes: readonly Outcome[],
  onFeedback: EmbeddedOptions['onFeedback'],
): Promise<number | ClientFailure> {
  if (onFeedback === undefined) return failures.feedback
  try {
    await onFeedback(outcomes)
    return outcomes.length
  } catch (cause) {
    return thrown(cause)
  }
}

function answerOf(
  table: CopiedTable,
  ip: string,
  explain: typeof answerWithInsights | undefined,
  sent: JsonObject | undefined,
): CheckAnswer | InsightsAnswer | undefined {
  const { reader, asOf, sources, builtMs } = table
  const isPlain = explain === undefined
  const answer = isPlain ? table.check(ip) : explain({ reader, asOf, sources, builtMs }, ip)
  if (answer === undefined) return undefined
  // As the client of the API, which asks for it.
  if (sent === undefined) return { ...answer, prefix: prefixText(reader, ip, !isPlain) }
  const query = newQuery()
  parseQuery(query, Buffer.from(ip), 0, ip.length)
  return { ...answer, ...contextAnswer(contextOf(sent)!, table.answer(query)) }
}

function watchTable(
  path: string,
  {
    copy = true,
    watchMs = 1000,
    onSwap,
    onRefused,
  }: Pick<EmbeddedOptions, 'copy' | 'watchMs' | 'onSwap' | 'onRefused'>,
) {
  let open: CopiedTable | undefined
  let failure: ClientFailure = { reason: 'unavailable', message: 'There is no table.' }
  const refuse = (cause: unknown): void => {
    failure = { reason: 'unavailable', message: messageOf(cause), cause }
    if (open !== undefined) tell(onRefused, failure)
  }
  const take = (table: CopiedTable): void => {
    const old = open
    open = table
    old?.close()
    if (old !== undefined) tell(onSwap, table.id)
  }
  const known = fileIdentity(path)
  try {
    take(openCopiedTable(path, { copy }))
  } catch (cause) {
    refuse(cause)
  }
  let stopOpening = (): void => undefined
  const changed = (): void => {
    stopOpening()
    stopOpening = runInSteps(openCopiedTableInSteps(path, { copy }), { done: take, failed: refuse })
  }
  const watch = watchFile({ path, known, everyMs: watchMs, changed, mayEnd: true })
  return {
    /** `failure`: why none is open. */
    current: () => ({ open, failure }),
    close: () => {
      watch.stop()
      stopOpening()
      open?.close()
      open = undefined
      failure = { reason: 'unavailable', message: 'The client was closed.' }
    },
  }
}

/** Runs each step in its own turn of the loop; returns a function that ends them early. */
function runInSteps<T>(
  steps: Generator<number, T, undefined>,
  {
    done,
    failed,
  }: { readonly done: (value: T) => void; readonly failed: (cause: unknown) => void },
): () => void {
  let timer: NodeJS.Timeout
  const next = (): void => {
    try {
      const step = steps.next()
      if (step.done === true) done(step.value)
      else timer = setTimeout(next, step.value).unref()
    } catch (cause) {
      failed(cause)
    }
  }
  next()
  return () => {
    clearTimeout(timer)
    steps.return(undefined as T)
  }
}

export type { ClientFailure } from '../client/core/outcome-report.ts'
export type * from '../client/core/check-result.ts'

/**
 * What a plain check does not need: insights and the score's model; policies and the schemas of
 * their file. Loading both takes an application several times as long as everything else, so each
 * is loaded on first use; policies when the client is created.
 */
function createLazyParts({
  policies: path,
  watchMs: everyMs = 1000,
  onRefused,
  onMisconfigured,
}: EmbeddedOptions) {
  let policies: EmbeddedPolicies | undefined
  let explain: typeof answerWithInsights | undefined
  let closed = false
  const loadPolicies = async (path: string): Promise<void> => {
    const { watchPolicies } = await import('./embedded-policies.ts')
    if (!closed) policies = watchPolicies({ path, everyMs, onRefused, onMisconfigured })
  }
  const first = path === undefined ? undefined : loadPolicies(path)
  // Each check reports why there are none.
  first?.catch(() => undefined)
  const loadInsights = async (): Promise<void> => {
    explain = (await import('../table/explain/insights.ts')).answerWithInsights
  }
  return {
    /** Resolves when a check has what it needs; `undefined` if it has. Rejects if that fails. */
    load: ({ insights }: { readonly insights: boolean }): Promise<void> | undefined => {
      const missing = [
        policies === undefined ? first : undefined,
        insights && explain === undefined ? loadInsights() : undefined,
      ].filter((part) => part !== undefined)
      return missing.length === 0 ? undefined : Promise.all(missing).then(() => undefined)
    },
    policies: () => policies,
    explain: () => explain,
    close: () => {
      closed = true
      policies?.close()
    },
  }
}
