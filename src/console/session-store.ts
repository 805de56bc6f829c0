// Who is logged in to the console, in memory alone: a restart ends every session.
//
// Invariants: of an id only its SHA-256 is kept, and a login always makes a new one, so that an id
// which somebody else has set or seen is worth nothing; a session ends twelve hours after its
// login, and after an hour without a request; above `consoleSessionsMax` the one that rests longest
// ends.

import { randomBytes } from 'node:crypto'
import { hashSecret } from '../account/keys/secret-hash.ts'
import type { AdminCaller } from '../admin/admin-caller.ts'
import { consoleIdleMsMax, consoleSessionMsMax, consoleSessionsMax } from '../base/limits.ts'

export interface Session {
  readonly caller: AdminCaller
  /** What a request that changes something sends back as a header. */
  readonly csrf: string
  /** Milliseconds since the epoch. */
  readonly expiresMs: number
}

export interface SessionStore {
  /** A new session and the id for its cookie, 43 characters. */
  readonly open: (caller: AdminCaller, nowMs: number) => { readonly id: string } & Session
  /** Counts as a request of it. */
  readonly find: (id: string, nowMs: number) => Session | undefined
  readonly close: (id: string) => void
  readonly size: () => number
}

const randomText = (): string => randomBytes(32).toString('base64url')
const keyOf = (id: string): string => hashSecret(id).toString('base64')

export function createSessionStore(): SessionStore {
  // In the order of their last requests.
  const sessions = new Map<string, Session & { readonly usedMs: number }>()
  const isOver = ({ expiresMs, usedMs }: Session & { readonly usedMs: number }, nowMs: number) =>
    nowMs >= expiresMs || nowMs - usedMs >= consoleIdleMsMax
  return {
    open: ({ role, name }, nowMs) => {
      for (const [key, one] of sessions) if (isOver(one, nowMs)) sessions.delete(key)
      for (const key of sessions.keys()) {
        if (sessions.size < consoleSessionsMax) break
        sessions.delete(key)
      }
      const id = randomText()
      const session: Session = {
        caller: { role, name: name === '' ? 'admin' : name, via: 'console' },
        csrf: randomText(),
        expiresMs: nowMs + consoleSessionMsMax,
      }
      sessions.set(keyOf(id), { ...session, usedMs: nowMs })
      return { id, ...session }
    },
    find: (id, nowMs) => {
      const key = keyOf(id)
      const found = sessions.get(key)
      if (found === undefined) return undefined
      sessions.delete(key)
      if (isOver(found, nowMs)) return undefined
      sessions.set(key, { ...found, usedMs: nowMs })
      return found
    },
    close: (id) => void sessions.delete(keyOf(id)),
    size: () => sessions.size,
  }
}
