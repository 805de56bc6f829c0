// Turns errors of undici, sockets, TLS and zlib into coded ones: what, which URL, what to do. The
// code decides whether to retry.

import type { ErrorCode } from '../../src/base/error-codes.ts'
import { IpriskError, messageOf, environmentError } from '../../src/base/coded-error.ts'

export interface FetchFailure {
  readonly error: IpriskError
  /** No connection could be made: a fact about the host, not the file. */
  readonly unreachable?: boolean
  /** The wait that the server requested. */
  readonly retryAfterMs?: number | undefined
}

const unreachableCodes = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
])

const timeouts: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_TIMEOUT: 'sent no headers in time',
  UND_ERR_BODY_TIMEOUT: 'stopped sending in the middle of the body',
}

const diskCodes = new Set(['ENOSPC', 'EDQUOT', 'EACCES', 'EROFS', 'EIO', 'EEXIST', 'ENOENT'])

export function toFetchFailure(thrown: unknown, url: string): FetchFailure {
  if (thrown instanceof IpriskError) return { error: thrown }
  const code = codeOf(thrown)
  const make = (name: ErrorCode, text: string, retryable: boolean): IpriskError =>
    environmentError(name, `${url}: ${text}`, { retryable, cause: thrown })
  if (unreachableCodes.has(code)) {
    const error = make('fetch_unreachable', `cannot connect (${messageOrCode(thrown)})`, true)
    return { error, unreachable: true }
  }
  const timeout = timeouts[code]
  if (timeout !== undefined) return { error: make('fetch_timeout', `it ${timeout}`, true) }
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return { error: make('fetch_truncated', 'the body is not as long as announced', true) }
  }
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR_FORMAT')) {
    const text = `the compressed body is damaged or cut short (${messageOf(thrown)})`
    return { error: make('fetch_truncated', text, true) }
  }
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_/.test(code)) {
    const text =
      `its certificate or TLS is not accepted (${messageOrCode(thrown)}); for a proxy's own ` +
      `authority set NODE_EXTRA_CA_CERTS`
    return { error: make('fetch_tls', text, false) }
  }
  if (diskCodes.has(code)) {
    return { error: make('fetch_disk', `cannot be stored (${messageOf(thrown)})`, false) }
  }
  const text = `the connection broke (${messageOrCode(thrown)})`
  return { error: make('fetch_interrupted', text, true) }
}

/** Whether a feed's URL is gone, answers with something else, or may recover. */
export type FetchTrouble = 'dead' | 'moved' | 'failing'

export interface FetchProblem {
  readonly text: string
  readonly trouble: FetchTrouble
}

const movedCodes: readonly ErrorCode[] = [
  'fetch_html',
  'fetch_no_entries',
  'fetch_redirect',
  'fetch_too_large',
  'fetch_too_small',
]

export function fetchProblem(
  { code, message }: IpriskError,
  from: 'mirror' | 'publisher',
): FetchProblem {
  const isMoved = (movedCodes as readonly string[]).includes(code)
  const trouble = code === 'fetch_gone' ? 'dead' : isMoved ? 'moved' : 'failing'
  const gone = from === 'mirror' ? 'the mirror lacks it' : 'its publisher moved or removed it'
  return { text: trouble === 'dead' ? `${message}; ${gone}` : message, trouble }
}

export function statusFailure(options: {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly url: string
  readonly now: number
}): FetchFailure {
  const { status, retryAfter, url, now } = options
  const retryable = status === 408 || status === 429 || (status >= 500 && status !== 501)
  const message = `${url}: status ${status}${adviceOf(status)}`
  const code = status === 404 || status === 410 ? 'fetch_gone' : 'fetch_status'
  const error = environmentError(code, message, { retryable })
  return { error, retryAfterMs: retryable ? parseRetryAfter(retryAfter, now) : undefined }
}

function adviceOf(status: number): string {
  if (status === 401 || status === 403) return '; it requires credentials or refuses this client'
  if (status === 429) return '; too many requests: run less often'
  return ''
}

/** Retry-After (RFC 9110, 10.2.3) in milliseconds: seconds, or a date. */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  if (/^\s*\d{1,9}\s*$/.test(text)) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

function codeOf(thrown: unknown): string {
  const code = (thrown as { readonly code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : ''
}

/** Node's AggregateError of a failed connection has a code but an empty message. */
export function messageOrCode(thrown: unknown): string {
  const message = messageOf(thrown)
  return message === '' ? codeOf(thrown) : message
}
