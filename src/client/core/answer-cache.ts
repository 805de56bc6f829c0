// Recent answers, so that a login that comes in five requests costs one check. The least recently
// used are evicted first. Another table's answer empties the cache: what was right by the old table
// may be wrong by the new one.
// An answer is kept for its prefix (contract 6.4: scope of an answer), else only for its
// address. An address has one answer however many prefixes contain it, so the first length found
// counts.

import {
  addressGroups,
  canonicalText,
  holdsGroups,
  judgedGroups,
  unmapped,
} from '../address/address-text.ts'
import type { Answer } from './check-result.ts'

export interface CacheTerms {
  readonly ip: string
  /** Empty if none was named. */
  readonly policy: string
  readonly insights: boolean
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
}) {
  const { max, keptMs, now } = options
  const kept = new Map<string, Kept>()
  /** Those of the prefixes that are or were kept, by an address's groups. */
  const lengths = { 2: new Set<number>(), 8: new Set<number>() }
  let table = ''
  let keptChars = 0

  function drop(key: string): void {
    keptChars -= kept.get(key)?.chars ?? 0
    kept.delete(key)
  }

  /** A Map keeps insertion order: a hit is moved to the end. */
  function take(key: string): Answer | undefined {
    const found = kept.get(key)
    if (found === undefined) return undefined
    if (found.until <= now()) {
      drop(key)
      return undefined
    }
    kept.delete(key)
    kept.set(key, found)
    return found.answer
  }

  function find(terms: CacheTerms): Answer | undefined {
    if (kept.size === 0) return undefined
    const groups = judgedGroups(terms.ip)!
    for (const length of lengths[groups.length as 2 | 8]) {
      const found = take(keyOf(terms, groups, length))
      if (found !== undefined) return found.ip === terms.ip ? found : answerAbout(terms.ip, found)
    }
    return undefined
  }

  /** `chars`: how long the answer's text was. */
  function keep(terms: CacheTerms, answer: Answer, chars: number): void {
    if (answer.table !== table) {
      kept.clear()
      lengths[2].clear()
      lengths[8].clear()
      keptChars = 0
    }
    table = answer.table
    if (max === 0 || keptMs === 0) return
    const groups = judgedGroups(terms.ip)!
    const length = prefixLength(answer, groups)
    const key = keyOf(terms, groups, length)
    drop(key)
    kept.set(key, { answer, until: now() + keptMs, chars })
    lengths[groups.length as 2 | 8].add(length)
    keptChars += chars
    for (const oldest of kept.keys()) {
      if (kept.size <= max && keptChars <= keptCharsMax) return
      drop(oldest)
    }
  }

  return { find, keep }
}

function keyOf(
  { policy, insights }: CacheTerms,
  groups: readonly number[],
  length: number,
): string {
  let key = `${insights ? '+' : '-'}${groups.length}/${length}`
  for (let at = 0; at * 16 < length; at++) {
    key += `.${groups[at]! >>> Math.max(0, 16 - length + at * 16)}`
  }
  return `${key} ${policy}`
}

/** The whole address if the answer names no prefix around it: that is not trusted. */
function prefixLength({ prefix }: Answer, groups: readonly number[]): number {
  const bits = groups.length * 16
  const [network = '', text = ''] = typeof prefix === 'string' ? prefix.split('/') : []
  const length = /^\d{1,3}$/.test(text) ? Number(text) : bits
  const first = addressGroups(network)
  const isAround = first !== undefined && holdsGroups({ groups: first, length }, groups)
  return isAround && length <= bits ? length : bits
}

/** What the server would answer for this address, given the answer for another one. */
function answerAbout(ip: string, { address: _other, ...rest }: Answer): Answer {
  const groups = addressGroups(ip)!
  const judged = groups.length === 8 ? (unmapped(groups) ?? canonicalText(ip)) : ip
  return judged === ip ? { ...rest, ip } : { ...rest, ip, address: judged }
}
