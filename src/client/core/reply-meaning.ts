// What the server's reply means for the caller. The status says it; a body is trusted if it has the
// form of the API and ignored otherwise, because a proxy in between may have written it.

import type { ClientFailure } from './outcome-report.ts'
import type { Reply } from './timely-request.ts'

export type Meaning =
  | {
      readonly kind: 'answer'
      readonly body: Readonly<Record<string, unknown>>
      readonly chars: number
      readonly requestId: string | undefined
    }
  | {
      readonly kind: 'failure'
      readonly failure: ClientFailure
      readonly server: ServerState
      readonly param?: unknown
    }

/** What the failure says about the server: `silent` ones open the circuit. */
export type ServerState = 'alive' | 'silent' | 'unknown'

/** Longer than any of the API's; text from a proxy in between must not fill the log. */
const messageCharsMax = 1000

export function meaningOf(reply: Reply, timeoutMs: number): Meaning {
  if (reply.kind === 'timed_out') {
    return failure('silent', { reason: 'timeout', message: `No answer within ${timeoutMs} ms.` })
  }
  if (reply.kind === 'aborted') {
    return failure('unknown', { reason: 'timeout', message: 'The caller stopped waiting.' })
  }
  if (reply.kind === 'failed') {
    const { cause } = reply
    const message = cause instanceof Error ? cause.message : 'The request failed.'
    return failure('silent', { reason: 'unavailable', message, cause })
  }
  const { status, text, requestId } = reply
  const body = objectIn(text)
  if (status >= 200 && status < 300 && body !== undefined) {
    return { kind: 'answer', body, chars: text.length, requestId }
  }
  const said = errorIn(body)
  const message = said.message ?? `The server answered with status ${status}.`
  const id = requestId === undefined ? {} : { requestId }
  const code = said.code === undefined ? {} : { code: said.code }
  const { reason, server } = reasonOf(status)
  return failure(server, { reason, status, message, ...code, ...id }, said.param)
}

function failure(server: ServerState, about: ClientFailure, param?: unknown): Meaning {
  return { kind: 'failure', failure: about, server, param }
}

function reasonOf(status: number): Pick<ClientFailure, 'reason'> & { server: ServerState } {
  if (status === 429) return { reason: 'limited', server: 'alive' }
  // A proxy in between has timed out.
  if (status === 408 || status === 425) return { reason: 'unavailable', server: 'silent' }
  // 401 and 403: the key. 404, 405, a redirect: the server's address. Others: our bytes.
  if (status >= 300 && status < 500) return { reason: 'misconfigured', server: 'alive' }
  // Also a 200 that is not JSON, and the status 0 of a redirect that fetch hides.
  if (status === 0) return { reason: 'misconfigured', server: 'alive' }
  return { reason: 'unavailable', server: 'silent' }
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    return undefined
  }
}

function errorIn(body: Readonly<Record<string, unknown>> | undefined): {
  readonly code?: string
  readonly message?: string
  readonly param?: unknown
} {
  const error = body?.['error']
  if (typeof error !== 'object' || error === null) return {}
  const { code, message, param } = error as Readonly<Record<string, unknown>>
  return {
    param,
    ...(typeof code === 'string' ? { code: code.slice(0, 64) } : {}),
    ...(typeof message === 'string' ? { message: message.slice(0, messageCharsMax) } : {}),
  }
}
