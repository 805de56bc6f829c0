// Who a token belongs to, and how many wrong ones an address may send: to the console's login and
// as Bearer together, counted by whole minutes. An IPv6 client counts by its /64, which belongs to
// one line.
// Invariant: a right token is always accepted. Tokens are too long to be guessed
// (admin-caller.ts requires at least 16 characters), so the limit only reduces noise, and guesses
// from the same address lock out no holder of a token.

import { visitorOf } from '../ip/embedded-text.ts'
import type { AdminCaller, TokenMatcher } from './admin-caller.ts'

/** From one line: enough for typing errors. */
export const wrongTokensPerMinute = 10

/** Lines remembered; in a minute with more, counting starts over: 1 MB. */
const linesMax = 10_000

/** The token's owner, how long to wait before the next try, or nothing. */
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
    // Without the zone of a link-local address. A socket's client has none.
    const line = visitorOf((address ?? '').split('%', 1)[0]!) ?? ''
    const before = wrong.get(line) ?? 0
    wrong.set(line, before + 1)
    if (before < wrongTokensPerMinute) return undefined
    return { waitSeconds: Math.max(1, Math.ceil(((minute + 1) * minuteMs - nowMs) / 1000)) }
  }
}
