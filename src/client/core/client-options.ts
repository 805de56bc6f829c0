// A client's options, all checked on creation: a mistake throws at the start of the application,
// not at its first login.

import {
  type Action,
  type CheckOptions,
  type FailureReason,
  type Unchecked,
  failureReasons,
} from './check-result.ts'
import { checkOptionTypes, optionError } from '../option-error.ts'
import type { Transport } from '../transport/transport.ts'
import type { ClientFailure } from './outcome-report.ts'

export interface ClientOptions {
  /** The server's URL: `http://127.0.0.1:8080`. A path before `/v1` is kept. */
  readonly url: string
  /** The API key, `irk_…` or, for tests, `irkt_…`. */
  readonly key: string
  /** Milliseconds for one check, in total: connection, retry, answer. Default 150. */
  readonly timeoutMs?: number
  /** The same for a batch and for feedback. Default 10,000. */
  readonly batchTimeoutMs?: number
  /** What to do without a decision: one action, or one per reason. */
  readonly fallback?: Action | Readonly<Partial<Record<FailureReason, Action>>>
  /** Milliseconds for which an answer is reused. Default 5,000; 0 keeps none. */
  readonly cacheMs?: number
  /** How many answers are kept, at most 10,000, which is the default. */
  readonly cacheMax?: number
  /**
   * Coalesces checks that arrive at the same time into one request. Default true in Node and false
   * elsewhere; never for test keys.
   */
  readonly coalesce?: boolean
  /** Sends a second request if the first has no answer after this many milliseconds. Off by
   * default. */
  readonly hedgeMs?: number
  /** This many consecutive failures open the circuit. Default 5. */
  readonly circuitFailures?: number
  /** Milliseconds for which the circuit stays open at first; then twice as long each time. Default
   * 1,000. */
  readonly circuitMs?: number
  /**
   * The server refuses what is sent: a wrong key, a wrong server URL, an unknown policy. Called
   * each time. Without it the client logs to the console: at once, then once a minute.
   */
  readonly onMisconfigured?: (failure: ClientFailure) => unknown
  /**
   * No answer for now: `timeout`, `unavailable`, `limited`. Called each time. Without it the client
   * logs to the console: at once, then once a minute, and when answers resume.
   */
  readonly onUnavailable?: (failure: ClientFailure) => unknown
  /** Replaces the runtime's own way to send requests. */
  readonly transport?: Transport
}

/** The options with all defaults. */
export type ClientSettings = Readonly<ReturnType<typeof clientSettings>>

/** `limited` has an action only if the options set one. */
export type Fallback = Readonly<
  Record<Exclude<FailureReason, 'limited'>, Action> & { readonly limited?: Action }
>

/** The largest cache. */
const cacheMaxMax = 10_000

/**
 * iprisk must not be the reason that a login fails. But an invalid address comes from an untrusted
 * source, and must not be a way around the check.
 */
const defaultFallback: Fallback = {
  timeout: 'allow',
  unavailable: 'allow',
  misconfigured: 'allow',
  invalid_address: 'challenge',
}

/** Throws a TypeError that never repeats the key. */
export function clientSettings(options: ClientOptions, coalesces = true) {
  checkOptionTypes(options, {
    coalesce: 'boolean',
    onMisconfigured: 'function',
    onUnavailable: 'function',
  })
  const { key, transport } = options
  // For callers without types.
  const { send, close } = (transport ?? {}) as Partial<Transport>
  const canSend = typeof send === 'function' && typeof close === 'function'
  if (transport !== undefined && !canSend) {
    throw optionError('`transport` must have the functions `send` and `close`.')
  }
  if (key === undefined || key === '') {
    throw optionError('`key` is empty: set it to an API key from `iprisk keys create`.')
  }
  if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key)) {
    throw optionError('`key` must be an API key without surrounding white space.')
  }
  const number = (name: NumberName, without: number, least = 1): number => {
    const value: unknown = options[name] ?? without
    if (typeof value === 'number' && value >= least && value <= numberMax) return value
    throw optionError(`\`${name}\` must be a number from ${least} to ${numberMax}.`)
  }
  return {
    url: serverUrl(options.url),
    key,
    timeoutMs: number('timeoutMs', 150),
    batchTimeoutMs: number('batchTimeoutMs', 10_000),
    fallback: fallbackFor(options.fallback),
    cacheMs: number('cacheMs', 5000, 0),
    cacheMax: Math.min(cacheMaxMax, number('cacheMax', cacheMaxMax, 0)),
    // One address of a test key can stand for the refusal of a whole batch.
    coalesce: (options.coalesce ?? coalesces) && !key.startsWith('irkt_'),
    hedgeMs: number('hedgeMs', numberMax),
    circuitFailures: number('circuitFailures', 5),
    circuitMs: number('circuitMs', 1000),
  }
}

type NumberName = Extract<keyof ClientOptions, `${string}Ms` | 'cacheMax' | 'circuitFailures'>

/** The longest time that timers accept. */
export const numberMax = 2_147_483_647

/** Throws a TypeError if it has no action, or one for an unknown reason. */
export function fallbackFor(fallback: NonNullable<ClientOptions['fallback']> = {}): Fallback {
  const chosen: Partial<Record<string, Action>> = {}
  const isOne = typeof fallback !== 'object' || (fallback as unknown) === null
  const given: readonly (readonly [string, unknown])[] = isOne
    ? failureReasons.map((reason) => [reason, fallback])
    : Object.entries(fallback)
  for (const [reason, action] of given) {
    if (action === undefined) continue
    const isReason = (failureReasons as readonly string[]).includes(reason)
    if (typeof action !== 'string' || action === '' || !isReason) {
      const reasons = failureReasons.join(', ')
      throw optionError(`\`fallback\` must be an action, or an object with actions for ${reasons}.`)
    }
    chosen[reason] = action
  }
  return { ...defaultFallback, ...chosen }
}

export function uncheckedFor(
  { reason }: Pick<Unchecked, 'reason'>,
  fallback: Fallback,
  { whenLimited = 'allow' }: Pick<CheckOptions, 'whenLimited'> = {},
): Unchecked {
  return { ok: false, reason, fallback: fallback[reason] ?? whenLimited }
}

function serverUrl(text: string): string {
  let url: URL | undefined
  try {
    url = new URL(text)
  } catch {}
  if (url === undefined || !/^https?:$/.test(url.protocol) || /[?#]/.test(text)) {
    throw optionError('`url` must be the URL of the server, such as "http://127.0.0.1:8080".')
  }
  if (url.host !== url.href.split('/')[2]) {
    throw optionError('`url` must not contain a user or password; set the key in `key`.')
  }
  let path = url.pathname
  while (path.endsWith('/')) path = path.slice(0, -1)
  return url.origin + path
}
