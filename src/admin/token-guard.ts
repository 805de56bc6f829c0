// Who a token belongs to, and how many wrong ones may be sent: to the console's login and as Bearer
// together, counted by whole minutes. An IPv6 client counts by its /64, which is one line's.
//
// Invariants: above the limit of all lines a line waits only if it has sent a wrong token itself;
// a token that was right from this line before is let in whatever others on the line guess.

import { EMBEDDED, embeddedKind } from '../ip/embedded-ipv4.ts'
import { parseAddress } from '../ip/parse-address.ts'
import type { AdminCaller, TokenMatcher } from './admin-caller.ts'

/** Of one line: enough for typing errors. */
export const wrongTokensPerMinute = 10

/** Of all lines together. */
export const wrongTokensOfAllPerMinute = 1000

/** Lines that are remembered, the latest: 1 MB. */
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
  let wrongOfAll = 0
  const wrong = new Map<string, number>()
  const known = new Map<string, true>()
  return (token, address, nowMs) => {
    const now = Math.floor(nowMs / minuteMs)
    if (now !== minute) {
      wrong.clear()
      wrongOfAll = 0
    }
    minute = now
    const line = lineOf(address ?? '')
    const caller = tokens(token)
    const pair = `${line} ${caller?.name}`
    const before = wrong.get(line) ?? 0
    const isOver = before > 0 && wrongOfAll >= wrongTokensOfAllPerMinute
    const isKnown = caller !== undefined && known.has(pair)
    if (!isKnown && (isOver || before >= wrongTokensPerMinute)) {
      return { waitSeconds: Math.max(1, Math.ceil(((minute + 1) * minuteMs - nowMs) / 1000)) }
    }
    if (caller !== undefined) {
      remember(known, pair, true)
      return caller
    }
    wrongOfAll += 1
    remember(wrong, line, before + 1)
    return undefined
  }
}

/** As the latest of `linesMax`. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= linesMax) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}

const words = new Uint32Array(4)

function lineOf(address: string): string {
  const family = parseAddress(address.split('%', 1)[0]!, words)
  if (family !== 6) return address
  // A port that listens on :: sees IPv4 clients so: they are no single /64.
  return embeddedKind(words) === EMBEDDED.mapped ? `${words[3]}` : `${words[0]} ${words[1]}`
}
