// The errors of the wire (contract 2: shapes, 3.11: errors): code, status, message and body. The
// program's own errors (src/base/coded-error.ts) never go out.
//
// Invariants: codes are stable and only added; a message says what to do and never repeats input.

import { paths } from './public-port.ts'

export const apiErrors = {
  invalid_input: {
    status: 400,
    message:
      'Send a JSON object whose member "ip" is a string with one IPv4 or IPv6 address, without zone, brackets, prefix length, port or white space. For a batch, send 1 to 10,000 of them in the array "ips".',
  },
  invalid_api_key: {
    status: 401,
    message:
      'Send one valid API key as "Authorization: Bearer <key>". It is missing, malformed, unknown, expired or revoked.',
  },
  api_not_enabled_for_plan: {
    status: 403,
    message:
      "This key's plan does not include the IP risk API. Use a key of the team plan or above.",
  },
  token_not_allowed_for_api: {
    status: 403,
    message:
      'This key may not call the IP risk API. Use a key whose allowed APIs include "ip-risk".',
  },
  not_found: {
    status: 404,
    message: 'There is nothing at this path. GET /openapi.json lists all paths.',
  },
  method_not_allowed: {
    status: 405,
    message: 'This path does not accept that method. See the Allow header.',
  },
  payload_too_large: {
    status: 413,
    message:
      'The body is too large: the limit is 1,048,576 bytes for a batch or feedback, and 65,536 otherwise.',
  },
  set_too_large: {
    status: 422,
    message: 'The published set has more prefixes than the parameter max allows.',
  },
  rate_limit_exceeded: {
    status: 429,
    message: 'Too many requests. Retry after the number of seconds in Retry-After.',
  },
  api_quota_exceeded: {
    status: 429,
    message: 'The quota is used up. It is renewed after the number of seconds in Retry-After.',
  },
  internal_error: {
    status: 500,
    message:
      "The server failed to handle this request. Retry once; the server's log has the details under this request_id.",
  },
  upstream_unavailable: {
    status: 503,
    message: 'The service is unavailable. Retry after the number of seconds in Retry-After.',
  },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly message: string }>>

export type ApiErrorCode = keyof typeof apiErrors

export const apiErrorCodes = Object.keys(apiErrors) as readonly ApiErrorCode[]

export interface ErrorDetail {
  /** Instead of the table's, if it can say more. */
  readonly message?: string
  readonly param?: string
  readonly retrySeconds?: number
  /** CrowdSec's bouncers read a `message` beside `error`. */
  readonly isBouncers?: boolean
}

/** A heading of docs/errors.md, which the server serves. */
export function docUrl(code: ApiErrorCode): string {
  return `${paths.docsErrors}#${code}`
}

export function errorBody(code: ApiErrorCode, requestId: string, detail: ErrorDetail = {}): string {
  const { message = apiErrors[code].message, param, isBouncers } = detail
  const error = { code, message, param, doc_url: docUrl(code), request_id: requestId }
  return JSON.stringify(isBouncers === true ? { message, error } : { error })
}
