// Answers of the last seconds, so that a login that comes in five requests costs one check. The
// least recently used goes first. Another table's answer empties it: what was right by the old one
// may be wrong by the new.
//
// An answer is kept for its address. For the /64 of an IPv6 address, a customer's line, it is kept
// only where its insights say that nothing in that /64 is listed: then all its addresses are alike.

import { addressGroups } from '../address/address-text.ts'
import type { Answer } from './check-result.ts'

export interface CacheTerms {
  readonly ip: string
  /** Empty where none was named. */
  readonly policy: string
  readonly insights: boolean
}

export interface AnswerCache {
  readonly find: (terms: CacheTerms) => Answer | undefined
  /** `chars`: how long the answer's text was. */
  readonly keep: (terms: CacheTerms, answer: Answer, chars: number) => void
}

interface Kept {
  readonly answer: Answer
  readonly until: number
  readonly chars: number
}

/** For the text of all kept answers: room for 10,000 plain ones, or about 3,000 with insights. */
const keptCharsMax = 16 * 1024 * 1024

export function createAnswerCache(options: {
  readonly max: number
  readonly keptMs: number
  readonly now: () => number
}): AnswerCache {
  const { max, keptMs, now } = options
  const kept = new Map<string, Kept>()
  let table = ''
  let keptChars = 0

  /** A Map keeps the order of insertion: what is found is put last again. */
  function take(key: string): Answer | undefined {
    const found = kept.get(key)
    if (found === undefined) return undefined
    kept.delete(key)
    if (found.until <= now()) {
      keptChars -= found.chars
      return undefined
    }
    kept.set(key, found)
    return found.answer
  }

  function find(terms: CacheTerms): Answer | undefined {
    if (kept.size === 0) return undefined
    const own = take(keyOf(terms, terms.ip))
    if (own !== undefined) return own
    const line = terms.insights ? prefix64(terms.ip) : undefined
    const shared = line === undefined ? undefined : take(keyOf(terms, line))
    if (shared === undefined) return undefined
    // The text that was sent, and what was judged, are the other address's.
    const { address: _other, ...rest } = shared
    return { ...rest, ip: terms.ip }
  }

  function keep(terms: CacheTerms, answer: Answer, chars: number): void {
    if (answer.table !== table) {
      kept.clear()
      keptChars = 0
    }
    table = answer.table
    if (max === 0 || keptMs === 0) return
    const line = sharesPrefix64(answer) ? prefix64(terms.ip) : undefined
    const key = keyOf(terms, line ?? terms.ip)
    keptChars += chars - (kept.get(key)?.chars ?? 0)
    kept.delete(key)
    kept.set(key, { answer, until: now() + keptMs, chars })
    for (const [oldest, entry] of kept) {
      if (kept.size <= max && keptChars <= keptCharsMax) return
      kept.delete(oldest)
      keptChars -= entry.chars
    }
  }

  return { find, keep }
}

function keyOf({ policy, insights }: CacheTerms, address: string): string {
  return `${insights ? '+' : '-'}${policy} ${address}`
}

/** A key for the /64 of an ordinary IPv6 address. */
function prefix64(ip: string): string | undefined {
  const groups = addressGroups(ip)
  if (groups?.length !== 8) return undefined
  const [first = 0, second = 0] = groups
  // 6to4, Teredo, NAT64 and mapped addresses are judged by an IPv4 address that they hold as well.
  const embeds = first === 0x2002 || (first === 0x2001 && second === 0) || first < 0x2000
  return embeds ? undefined : `${groups.slice(0, 4).join(':')}/64`
}

function sharesPrefix64({ version, insights }: Answer): boolean {
  if (version !== 6) return false
  // What stands in them is believed where it has the form of the API.
  const { neighborhood } = (insights ?? {}) as { readonly neighborhood?: unknown }
  const rows = (Array.isArray(neighborhood) ? neighborhood : []) as readonly ({
    readonly scope?: unknown
    readonly listed?: unknown
  } | null)[]
  const line = rows.find((row) => typeof row?.scope === 'string' && row.scope.endsWith('/64'))
  return Array.isArray(line?.listed) && line.listed.length === 0
}
