// What the page asks of the server that sent it: JSON, with the session's cookie, and the header
// that no other site can add where something changes. Nothing throws: a refusal is an answer.

import { csrfHeader } from '../../../admin/csrf-header.ts'
import type { ConsoleError, ConsoleSession } from '../../console-shapes.ts'

export interface Refusal {
  readonly kind: 'refused'
  /** 0: no answer at all. */
  readonly status: number
  readonly code: string
  readonly message: string
  /** Of policies that cannot be used, each with its place. */
  readonly mistakes: readonly string[]
}

export type Answer<T> =
  { readonly kind: 'ok'; readonly status: number; readonly value: T } | Refusal

interface WhenSession {
  readonly ended: () => void
  /** Another tab has signed in anew, and all tabs have its cookie. */
  readonly isAnother: () => Promise<void>
}

let csrf = ''
let whenSession: WhenSession | undefined

/** From now on changes carry the session's header; `null`: nobody is signed in. */
export function keepSession(session: ConsoleSession | null, when: WhenSession): void {
  csrf = session?.csrf ?? ''
  whenSession = when
}

/** It is not done again by itself: whoever signed in there may be somebody else. */
const anew = 'Another tab has signed in anew, and this one goes on with it. Do it once more.'

type Method = 'GET' | 'POST' | 'DELETE'

export async function ask<T>(
  method: Method,
  path: string,
  body?: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
): Promise<Answer<T>> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (csrf !== '' || method !== 'GET') headers[csrfHeader] = csrf
  try {
    const response = await fetch(path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
    const text = await response.text()
    const value: unknown = text === '' ? {} : parsed(text)
    if (response.ok) return { kind: 'ok', status: response.status, value: value as T }
    if (response.status === 401 && path !== '/console/login') whenSession?.ended()
    const refusal = refusalOf(response, value)
    if (refusal.code !== 'csrf') return refusal
    await whenSession?.isAnother()
    return { ...refusal, message: anew }
  } catch {
    const message = 'The server does not answer. Is it running? Try again.'
    return { kind: 'refused', status: 0, code: 'unreachable', message, mistakes: [] }
  }
}

/** Of policies that cannot be used also why, each mistake with its place. */
type ErrorBody = Partial<ConsoleError> & { readonly mistakes?: readonly string[] }

function refusalOf(response: Response, value: unknown): Refusal {
  const { error, mistakes } = (value ?? {}) as ErrorBody
  const wait = response.headers.get('retry-after')
  const message = error?.message ?? `The server answered ${response.status}.`
  return {
    kind: 'refused',
    status: response.status,
    code: error?.code ?? '',
    message: wait === null ? message : `${message} Try again in ${wait} s.`,
    mistakes: mistakes ?? [],
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
