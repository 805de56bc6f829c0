// The slow obvious twin of a matcher: every entry of every list is held against the address.

import { type Family, newAddressWords } from '../../src/ip/address.ts'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { wordsToBigint } from '../../src/ip/range.ts'
import { asnOfKey, rangeOfKey } from '../../src/lists/list-entry.ts'
import type { ListEffect } from '../../src/model/kind.ts'
import type { ListMatch } from '../../src/lists/list-matcher.ts'

export interface PlainEntry {
  readonly key: string
  readonly expires: number
}

export interface PlainList {
  readonly name: string
  readonly effect: ListEffect
  readonly entries: readonly PlainEntry[]
}

export interface Asked {
  readonly family: Family
  readonly words: Uint32Array
  readonly ipv4: number
  readonly asn: number
  readonly nowMs: number
}

/** What a matcher is asked of an address without another one inside. */
export function askedOf(text: string, asn = 0, nowMs = 0): Asked {
  const words = newAddressWords()
  const family = parseAddress(text, words) === 4 ? 4 : 6
  return { family, words, ipv4: family === 4 ? words[0]! : -1, asn, nowMs }
}

export function scanLists(lists: readonly PlainList[], asked: Asked): ListMatch | undefined {
  const { family, words, ipv4, asn, nowMs } = asked
  const values = [
    ...(family === 6 ? [{ family: 6, value: wordsToBigint(6, words) }] : []),
    ...(ipv4 >= 0 ? [{ family: 4, value: BigInt(ipv4) }] : []),
  ]
  const found = lists.flatMap(({ name, effect, entries }) =>
    entries.flatMap(({ key, expires }) => {
      if (expires !== 0 && expires * 1000 <= nowMs) return []
      const as = asnOfKey(key)
      if (as !== undefined) return as === asn ? [{ name, effect, size: 1n << 200n }] : []
      const range = rangeOfKey(key)
      const covers = values.some(
        ({ family, value }) =>
          family === range.family && range.first <= value && value <= range.last,
      )
      return covers ? [{ name, effect, size: range.last - range.first }] : []
    }),
  )
  if (found.length === 0) return undefined
  const acting = found.filter(({ effect }) => effect !== 'none')
  const least = acting.reduce((least, { size }) => (size < least ? size : least), 1n << 201n)
  const winners = acting.filter(({ size }) => size === least)
  const effect =
    winners.length === 0
      ? 'none'
      : winners.some((one) => one.effect === 'allow')
        ? 'allow'
        : 'block'
  return { names: [...new Set(found.map(({ name }) => name))].sort(), effect }
}
