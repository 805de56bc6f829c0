// Who a token belongs to, and how many wrong ones an address may send: to the console's login and as
// Bearer together, counted by whole minutes. An IPv6 client counts by its /64, which is one line's.
//
// Invariant: a right token is always accepted. Tokens are too long to be guessed (admin-caller.ts asks
// for 16 characters at least), so a limit on guesses protects against noise, and must lock nobody
// out who shares the address with whoever guesses.

import { EMBEDDED, embeddedKind } from '../ip/embedded-ipv4.ts'
import { parseAddress } from '../ip/parse-address.ts'
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
    const line = lineOf(address ?? '')
    const before = wrong.get(line) ?? 0
    wrong.set(line, before + 1)
    if (before < wrongTokensPerMinute) return undefined
    return { waitSeconds: Math.max(1, Math.ceil(((minute + 1) * minuteMs - nowMs) / 1000)) }
  }
}

const words = new Uint32Array(4)

function lineOf(address: string): string {
  const family = parseAddress(address.split('%', 1)[0]!, words)
  if (family !== 6) return address
  // A port that listens on :: sees IPv4 clients so: they are no single /64.
  return embeddedKind(words) === EMBEDDED.mapped ? `${words[3]}` : `${words[0]} ${words[1]}`
}
