// Console sessions, in memory only: a restart ends them.
//
// A session has two secrets: the id in its cookie, which browsers also send to other ports of this
// host, and the CSRF text, which only pages of the console's origin can read.
//
// Invariants: only both together find a session or keep it alive. Only their SHA-256 is kept; a
// login always makes new ones, so an id that another server has set or seen is worthless. A session
// ends twelve hours after its login, after an idle hour, or as its caller's longest idle one above
// the limit: a viewer that logs in again and again ends no session of an admin's.

import { randomBytes } from 'node:crypto'
import { hashSecret, sameHash } from '../account/keys/secret-hash.ts'
import type { AdminCaller } from '../admin/admin-caller.ts'

/** Per token: several people may share one, each with several browsers. */
export const consoleSessionsMax = 100

/** A working day, and an hour away. */
export const consoleSessionMsMax = 43_200_000
export const consoleIdleMsMax = 3_600_000

interface KeptSession {
  readonly caller: AdminCaller
  /** Milliseconds since the epoch. */
  readonly expiresMs: number
  readonly csrfHash: Buffer
  readonly usedMs: number
}

export type Session = Pick<KeptSession, 'caller' | 'expiresMs'>

const randomText = (): string => randomBytes(32).toString('base64url')
const keyOf = (id: string): string => hashSecret(id).toString('base64')

export function createSessionStore() {
  // In the order of their last requests.
  const sessions = new Map<string, KeptSession>()
  const isOver = ({ expiresMs, usedMs }: KeptSession, nowMs: number) =>
    nowMs >= expiresMs || nowMs - usedMs >= consoleIdleMsMax
  return {
    /** `csrf`: the text for the header of its requests. */
    open({ role, name }: AdminCaller, nowMs: number) {
      for (const [key, one] of sessions) if (isOver(one, nowMs)) sessions.delete(key)
      const [id, csrf] = [randomText(), randomText()]
      const session = {
        caller: { role, name: name === '' ? 'admin' : name, via: 'console' },
        expiresMs: nowMs + consoleSessionMsMax,
      } as const
      const own = [...sessions].filter(
        ([, { caller }]) => caller.name === session.caller.name && caller.role === role,
      )
      const [idlest] = own
      if (own.length >= consoleSessionsMax) sessions.delete(idlest![0])
      sessions.set(keyOf(id), { ...session, csrfHash: hashSecret(csrf), usedMs: nowMs })
      return { id, csrf, ...session }
    },
    /** Counts as activity. */
    find({ id, csrf }: { readonly id: string; readonly csrf: string }, nowMs: number) {
      const key = keyOf(id)
      const found = sessions.get(key)
      if (found === undefined || !sameHash(hashSecret(csrf), found.csrfHash)) return undefined
      sessions.delete(key)
      if (isOver(found, nowMs)) return undefined
      sessions.set(key, { ...found, usedMs: nowMs })
      const { caller, expiresMs } = found
      return { id, caller, expiresMs }
    },
    close: (id: string) => void sessions.delete(keyOf(id)),
    size: () => sessions.size,
  }
}

/** How long the link that `iprisk start` prints can be used. */
const linkMs = 600_000

/** Says whether a text is the link's secret, once. */
export function createLink(
  secret: string | undefined,
  now: () => number,
): (text: string) => boolean {
  const untilMs = now() + linkMs
  let hash = secret === undefined ? undefined : hashSecret(secret)
  return (text) => {
    if (hash === undefined || now() >= untilMs || !sameHash(hashSecret(text), hash)) return false
    hash = undefined
    return true
  }
}
