// Who a token belongs to, and how many wrong ones an address may send: to the console's login and as
// Bearer together, counted by whole minutes. An IPv6 client counts by its /64, which is one line's.
//
// Invariant: a right token is always accepted. Tokens are too long to be guessed (admin-caller.ts
// asks for 16 characters at least), so the limit only keeps noise down, and guesses from
// the same address lock out no holder of a token.

import { visitorOf } from '../ip/embedded-text.ts'
import type { AdminCaller, TokenMatcher } from './admin-caller.ts'

/** Of one line: enough for typing errors. */
export const wrongTokensPerMinute = 10

/** Lines that are remembered; in a minute with more the count begins anew: 1 MB. */
const linesMax = 10_000

/** Whose the token is, how long to wait before the next try, or nobody's. */
export type TokenGuard = (
  token: string,
  address: string | undefined,
  nowMs: number,
) => AdminCaller | { readonly waitSeconds: number } | undefined

export const tooManyTokensText = 'Too many wrong tokens from this address in a minute.'

const minuteMs = 60_000

export function createTokenGuard(tokens: TokenMatcher): TokenGuard {
  let minute = -1
  const wrong = new Map<string, number>()
  return (token, address, nowMs) => {
    const caller = tokens(token)
    if (caller !== undefined) return caller
    const now = Math.floor(nowMs / minuteMs)
    if (now !== minute || wrong.size >= linesMax) wrong.clear()
    minute = now
    // Without the zone of a link-local address. One of a socket has none.
    const line = visitorOf((address ?? '').split('%', 1)[0]!) ?? ''
    const before = wrong.get(line) ?? 0
    wrong.set(line, before + 1)
    if (before < wrongTokensPerMinute) return undefined
    return { waitSeconds: Math.max(1, Math.ceil(((minute + 1) * minuteMs - nowMs) / 1000)) }
  }
}
