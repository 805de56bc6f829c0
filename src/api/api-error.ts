// The errors of the wire (contract 2 and 3.11): one table of code, status and message, and the body
// that carries them. Not the errors of the program (src/base/coded-error.ts): those never go out.
//
// Invariants: codes are stable and only added; a message says what to do and never repeats what the
// client sent. What is wrong with an input in particular is input-fault.ts.

import { paths } from './public-port.ts'

/** What the server answers where it does not answer the question. */
export const apiErrors = {
  invalid_input: {
    status: 400,
    message:
      'The body must be a JSON object whose member "ip" is a string with one IPv4 or IPv6 address, without zone, brackets, prefix length, port or white space; of a batch, whose member "ips" is an array of 1 to 10,000 of them.',
  },
  invalid_api_key: {
    status: 401,
    message:
      'Send one valid API key as "Authorization: Bearer <key>". It is missing, malformed, unknown, expired or revoked.',
  },
  api_not_enabled_for_plan: {
    status: 403,
    message:
      'The plan of this key does not include the IP risk API. Use a key of the team plan or above.',
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
    message: 'This path does not take that method. The Allow header lists those it takes.',
  },
  payload_too_large: {
    status: 413,
    message:
      'The body is too large: a batch and feedback take at most 1,048,576 bytes, all else 65,536.',
  },
  rate_limit_exceeded: {
    status: 429,
    message: 'Too many requests in a short time. Retry after the seconds in Retry-After.',
  },
  api_quota_exceeded: {
    status: 429,
    message: 'The quota of this key is used up. It is renewed after the seconds in Retry-After.',
  },
  internal_error: {
    status: 500,
    message:
      'The server failed on this request; its log has the details under this request_id. Retry once.',
  },
  upstream_unavailable: {
    status: 503,
    message: 'The service cannot answer just now. Retry after the seconds in Retry-After.',
  },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly message: string }>>

export type ApiErrorCode = keyof typeof apiErrors

/** All codes, in the order of the table. */
export const apiErrorCodes = Object.keys(apiErrors) as readonly ApiErrorCode[]

/** What an error says besides its code. */
export interface ErrorDetail {
  /** Where one says more than the table's. */
  readonly message?: string
  /** The member that is wrong, where one is. */
  readonly param?: string
  /** Retry-After, where it does not follow from the code and the key's limits. */
  readonly retrySeconds?: number
}

/** Where the code is described: a heading of docs/errors.md, which the server sends there. */
export function docUrl(code: ApiErrorCode): string {
  return `${paths.docsErrors}#${code}`
}

/** The JSON text of an error. */
export function errorBody(code: ApiErrorCode, requestId: string, detail: ErrorDetail = {}): string {
  const { message = apiErrors[code].message, param } = detail
  const error = { code, message, param, doc_url: docUrl(code), request_id: requestId }
  return JSON.stringify({ error })
}
