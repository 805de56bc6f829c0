// Drawn policies and own lists for sets, and the prefixes of a set as ranges of numbers.

import { newRandom } from '../../bench/harness/random.ts'
import { formatAddress } from '../../src/ip/format-address.ts'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { checkPolicies } from '../../src/policy/policy-file.ts'
import { setRecordWords } from '../../src/sets/set-records.ts'
import { matcherOf, plainList } from '../lists/matcher-of.ts'

export const drawnTests = [
  'signals.tor',
  'risk_score >= 20',
  'risk_score >= 75 && version == 4',
  '"attackers" in lists',
  'size(lists) > 0 && risk_score > 0',
  '"list_blocked" in reasons',
  "network.asn == 64497 && location.country_code != ''",
  "classification == 'bogon'",
  'signals.hosting && !signals.vpn',
  'version == 6',
]
const random = newRandom(46)
export const below = (limit: number): number => random.word() % limit
export const pick = <T>(all: readonly T[]): T => all[below(all.length)]!

export function drawnPolicies() {
  const rules = Array.from({ length: 1 + below(4) }, (_, i) => ({
    name: `r${i}`,
    condition: pick(drawnTests),
    action: pick(['allow', 'block', 'challenge', 'slow']),
  }))
  const checked = checkPolicies(
    JSON.stringify({ policies: { default: { rules, otherwise: 'allow' } } }),
  )
  if ('mistakes' in checked) throw new Error(checked.mistakes.join('\n'))
  return checked.policies
}

function drawnPrefix(): string {
  if (below(3) === 0) return pick(['2a01:4f8::/33', '2a01:4f8::2', '2a00::/17', '2a02:1::/32'])
  const length = 6 + below(27)
  const first = ((pick([9, 11, 12, 13]) << 24) | below(1 << 24)) >>> 0
  const bits = length === 32 ? first : (first >>> (32 - length)) << (32 - length)
  return `${formatAddress(4, Uint32Array.of(bits >>> 0, 0, 0, 0))}/${length}`
}

export const drawnLists = () =>
  matcherOf([
    plainList('attackers', 'block', ...Array.from({ length: below(12) }, drawnPrefix)),
    plainList('partners', 'allow', ...Array.from({ length: below(6) }, drawnPrefix), 'AS64498'),
    plainList('office', 'none', ...Array.from({ length: below(6) }, drawnPrefix)),
  ])

export interface Prefix {
  readonly family: 4 | 6
  readonly first: bigint
  readonly last: bigint
  readonly length: number
  readonly label: number
}

export function prefixesOf(words: Uint32Array): readonly Prefix[] {
  return Array.from({ length: words.length / setRecordWords }, (_, i) => {
    const at = i * setRecordWords
    const first = [0, 1, 2, 3].reduce((sum, word) => (sum << 32n) | BigInt(words[at + word]!), 0n)
    const [length, label] = [words[at + 4]! >>> 16, words[at + 4]! & 0xffff]
    const last = first + (1n << BigInt(128 - length)) - 1n
    return { family: first < 1n << 32n ? 4 : 6, first, last, length, label }
  })
}

const parsed = new Uint32Array(4)
export function valueOf(ip: string): { readonly family: 4 | 6; readonly value: bigint } {
  const family = parseAddress(ip, parsed) === 4 ? 4 : 6
  const value = [...parsed].reduce((sum, word) => (sum << 32n) | BigInt(word), 0n)
  return { family, value: family === 4 ? value >> 96n : value }
}

export const textOf = (family: 4 | 6, value: bigint): string =>
  formatAddress(
    family,
    Uint32Array.from(family === 4 ? [0n] : [96n, 64n, 32n, 0n], (shift) =>
      Number((value >> shift) & 0xffff_ffffn),
    ),
  )

/** Whether it lies in one of the sorted prefixes. */
export function isHeld(
  prefixes: readonly Prefix[],
  { family, value }: ReturnType<typeof valueOf>,
): boolean {
  let [from, to] = [0, prefixes.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    const one = prefixes[middle]!
    if (one.family < family || (one.family === family && one.first <= value)) from = middle + 1
    else to = middle
  }
  const found = prefixes[from - 1]
  return found?.family === family && value <= found.last
}

/** Sorted, disjoint, and no two neighbours of one label that one prefix would hold. */
export function isMinimal(prefixes: readonly Prefix[]): boolean {
  return prefixes.every(({ first, last, length, label }, i) => {
    const next = prefixes[i + 1]
    if (next === undefined) return true
    const isLeft = ((first >> BigInt(128 - length)) & 1n) === 0n
    const isPair =
      isLeft && next.first === last + 1n && next.length === length && next.label === label
    return last < next.first && !isPair
  })
}
