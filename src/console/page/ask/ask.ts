// Requests to the server, with the session's cookie and, in a header that no other origin can add,
// its text. Nothing throws: a refusal is an answer.

import { type ConsoleError, type ConsoleSession, csrfHeader } from '../../../api/admin-answers.ts'
import { notify } from './notices.ts'
import { askTabs, endText, sessionText } from './session.ts'

export interface Refusal {
  readonly kind: 'refused'
  /** 0: no answer. */
  readonly status: number
  readonly code: string
  readonly message: string
  /** Mistakes of unusable policies, each with its place. */
  readonly mistakes: readonly string[]
}

export type Answer<T> =
  { readonly kind: 'ok'; readonly status: number; readonly value: T } | Refusal

let whenEnded: (() => Promise<void>) | undefined

/** The server no longer knows this tab's session. */
export function onSessionEnd(listener: () => Promise<void>): void {
  whenEnded = listener
}

/** This tab's session or another tab's; `null`: sign in. */
export async function findSession(): Promise<ConsoleSession | null> {
  while (sessionText() !== '' || (await askTabs())) {
    const sent = sessionText()
    const answer = await request<ConsoleSession>('GET', '/console/session')
    // Another tab may have signed out or in meanwhile.
    if (sent !== sessionText()) continue
    if (answer.kind === 'ok') return answer.value
    if (answer.status !== 401) return null
    endText(false)
  }
  return null
}

/** Not repeated automatically: another user may have signed in. */
const signedInAgain = 'Another tab signed in again; this tab now uses its session. Try again.'

export type Body = Readonly<Record<string, unknown>>

export type Method = 'GET' | 'POST' | 'DELETE'

export async function ask<T>(
  method: Method,
  path: string,
  body?: Body,
  signal?: AbortSignal,
): Promise<Answer<T>> {
  const sent = sessionText()
  const answer = await request<T>(method, path, body, signal)
  const isRefused = answer.kind === 'refused' && answer.status === 401
  if (!isRefused || sent === '' || path === '/console/login') return answer
  if (sent === sessionText()) {
    endText(false)
    await whenEnded?.()
  }
  return sessionText() === '' ? answer : { ...answer, message: signedInAgain }
}

/** Notifies about a refusal. */
export async function askOrNotify<T>(
  method: Method,
  path: string,
  body?: Body,
): Promise<T | undefined> {
  const answer = await ask<T>(method, path, body)
  if (answer.kind === 'ok') return answer.value
  notify(answer.message, true)
  return undefined
}

async function request<T>(
  method: Method,
  path: string,
  body?: Body,
  signal?: AbortSignal,
): Promise<Answer<T>> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (sessionText() !== '') headers[csrfHeader] = sessionText()
  try {
    const response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    })
    const text = await response.text()
    const value: unknown = text === '' ? {} : parsed(text)
    if (response.ok) return { kind: 'ok', status: response.status, value: value as T }
    return refusalOf(response, value)
  } catch {
    const message = 'The server does not answer. Is it running? Try again.'
    return { kind: 'refused', status: 0, code: 'unreachable', message, mistakes: [] }
  }
}

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
