// A published set against its slow twin, a scan: an address is in it, under the same action and rule,
// exactly where the policy evaluated on the whole answer says so. And it is sorted, disjoint, and has
// no two prefixes that one would hold.

import { describe, expect, it } from 'vitest'
import { newRandom } from '../../bench/harness/random.ts'
import { policySet } from '../../src/sets/policy-set.ts'
import { formatAddress } from '../../src/ip/format-address.ts'
import { parseAddress } from '../../src/ip/parse-address.ts'
import { factsOf } from '../../src/policy/condition/condition-members.ts'
import { checkPolicies } from '../../src/policy/policy-file.ts'
import { compilePolicies } from '../../src/policy/policy.ts'
import { compareWords } from '../../src/ip/address.ts'
import { setRecordWords } from '../../src/sets/set-records.ts'
import { isLeftOut, sampleAddresses, smallTable } from '../export/small-export.ts'
import { inForm } from '../form.ts'
import { matcherOf, plainList } from '../lists/matcher-of.ts'

const tests = [
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
const below = (limit: number): number => random.word() % limit
const pick = <T>(all: readonly T[]): T => all[below(all.length)]!

function drawnPolicies() {
  const rules = Array.from({ length: 1 + below(4) }, (_, i) => ({
    name: `r${i}`,
    condition: pick(tests),
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

const drawnLists = () =>
  matcherOf([
    plainList('attackers', 'block', ...Array.from({ length: below(12) }, drawnPrefix)),
    plainList('partners', 'allow', ...Array.from({ length: below(6) }, drawnPrefix), 'AS64498'),
    plainList('office', 'none', ...Array.from({ length: below(6) }, drawnPrefix)),
  ])

interface Prefix {
  readonly family: 4 | 6
  readonly first: bigint
  readonly last: bigint
  readonly length: number
  readonly label: number
}

function prefixesOf(words: Uint32Array): readonly Prefix[] {
  return Array.from({ length: words.length / setRecordWords }, (_, i) => {
    const at = i * setRecordWords
    const first = [0, 1, 2, 3].reduce((sum, word) => (sum << 32n) | BigInt(words[at + word]!), 0n)
    const [length, label] = [words[at + 4]! >>> 16, words[at + 4]! & 0xffff]
    const last = first + (1n << BigInt(128 - length)) - 1n
    return { family: first < 1n << 32n ? 4 : 6, first, last, length, label }
  })
}

const parsed = new Uint32Array(4)
function valueOf(ip: string): { readonly family: 4 | 6; readonly value: bigint } {
  const family = parseAddress(ip, parsed) === 4 ? 4 : 6
  const value = [...parsed].reduce((sum, word) => (sum << 32n) | BigInt(word), 0n)
  return { family, value: family === 4 ? value >> 96n : value }
}

const textOf = (family: 4 | 6, value: bigint): string =>
  formatAddress(
    family,
    Uint32Array.from(family === 4 ? [0n] : [96n, 64n, 32n, 0n], (shift) =>
      Number((value >> shift) & 0xffff_ffffn),
    ),
  )

const common = sampleAddresses(inForm({ short: 300, full: 3000 }))

describe('a published set', () => {
  it('holds what a scan of check holds, under the same action and rule', () => {
    const held = new Map<string, number>()
    const wrong: string[] = []
    for (let round = 0; round < inForm({ short: 12, full: 100 }); round++) {
      const policies = drawnPolicies()
      smallTable.useLists(below(5) === 0 ? undefined : drawnLists())
      const { records, labels } = policySet(smallTable.reader, {
        policies,
        known: [{ action: 'gone', rule: 'before' }],
        prefixesMax: 10_000,
      })
      const prefixes = prefixesOf(records)
      const policy = compilePolicies(policies).policies[0]!
      const edges = prefixes.flatMap(({ family, first, last }) =>
        [first - 1n, first, last, last + 1n]
          .filter((value) => value >= 0n && value < 1n << (family === 4 ? 32n : 128n))
          .map((value) => textOf(family, value)),
      )
      for (const ip of new Set([...edges, ...common])) {
        if (isLeftOut(ip)) continue
        const answer = smallTable.check(ip)!
        const { action, rule } =
          policy.outcomes[policy.outcomeOf(factsOf(answer, answer.lists ?? []))]!.decision
        const twin = answer.signals.bogon || action === 'allow' ? '' : `${action} ${rule}`
        const { family, value } = valueOf(ip)
        const holder = prefixes.find(
          (one) => one.family === family && one.first <= value && value <= one.last,
        )
        const label = holder === undefined ? undefined : labels[holder.label]
        const found = label === undefined ? '' : `${label.action} ${label.rule}`
        if (found !== twin) wrong.push(`${JSON.stringify(policies.policies)} ${ip}: ${found}`)
        held.set(action, (held.get(action) ?? 0) + 1)
      }
    }
    smallTable.useLists(undefined)
    expect(wrong).toEqual([])
    expect([...held.keys()].sort()).toEqual(['allow', 'block', 'challenge', 'slow'])
  })

  it('is sorted, disjoint and minimal', () => {
    for (let round = 0; round < inForm({ short: 40, full: 300 }); round++) {
      smallTable.useLists(drawnLists())
      const how = { policies: drawnPolicies(), known: [], prefixesMax: 10_000 }
      const { records } = policySet(smallTable.reader, how)
      const prefixes = prefixesOf(records)
      prefixes.forEach(({ first, last, length, label }, i) => {
        const next = prefixes[i + 1]
        if (next === undefined) return
        expect(last < next.first).toBe(true)
        const isLeft = ((first >> BigInt(128 - length)) & 1n) === 0n
        const isPair =
          isLeft && next.first === last + 1n && next.length === length && next.label === label
        expect([round, i, isPair]).toEqual([round, i, false])
      })
      for (let at = 0; at + setRecordWords < records.length; at += setRecordWords)
        expect(compareWords(records, at, records, at + setRecordWords, 4)).toBeLessThan(0)
    }
    smallTable.useLists(undefined)
  })

  it('that is larger than it may be is refused, not cut off', () => {
    const policies = {
      revision: '',
      policies: {
        default: {
          rules: [{ name: 'all', condition: 'risk_score >= 0', action: 'block', observe: false }],
          otherwise: 'allow',
        },
      },
    }
    expect(() => policySet(smallTable.reader, { policies, known: [], prefixesMax: 3 })).toThrow(
      'The set has more than 3 prefixes; narrow its condition.',
    )
  })
})
