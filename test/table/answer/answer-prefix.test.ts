// The prefix of an answer (contract 6.4) against the slow way: all of its addresses have the same
// answer and decision, and the prefix that is twice as wide holds a boundary of what decides it.

import { describe, expect, it } from 'vitest'
import { newAddressWords } from '../../../src/ip/address.ts'
import { EMBEDDED, embeddedKind } from '../../../src/ip/embedded-ipv4.ts'
import { formatAddress } from '../../../src/ip/format-address.ts'
import { parseAddress } from '../../../src/ip/parse-address.ts'
import { addressBits, bigintToWords, parsePrefix, wordsToBigint } from '../../../src/ip/range.ts'
import { bogonRanges } from '../../../src/ip/special-purpose.ts'
import { tailGroupFlag } from '../../../src/schema/table-layout.ts'
import { prefixText, withPrefix } from '../../../src/table/answer/answer-prefix.ts'
import { ipv4StartList, ipv6KeyList } from '../piece-lists.ts'
import { newQuery, parseQuery } from '../../../src/table/lookup/query.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { inForm } from '../../form.ts'
import { matcherOf, plainList } from '../../lists/matcher-of.ts'
import { sampleAddresses, seeded } from '../../policy/sample-addresses.ts'
import { writeSmallTable } from '../small-table.ts'

const table = openTable(writeSmallTable())
const { reader } = table
const listed = [
  ['office', 'allow', '9.1.0.0/17', '2a01:4f8::/33', 'AS64498'],
  ['attackers', 'block', '9.1.2.3', '9.1.2.128/25', '13.0.0.1', '64:ff9b::901:203', '2c00::1'],
] as const
const matcher = matcherOf(listed.map(([name, effect, ...rows]) => plainList(name, effect, ...rows)))
const random = seeded(47)

function answerTo(ip: string) {
  const query = newQuery()
  const sent = Buffer.from(ip)
  expect(parseQuery(query, sent, 0, sent.length)).toBe(true)
  const { body, located } = table.answer(query)
  const { prefix, ...answer } = JSON.parse(
    Buffer.from(withPrefix(reader, query, located, body)).toString(),
  ) as Record<string, unknown>
  const { ip: _ip, address: _address, ...judged } = answer
  return { prefix: String(prefix), judged, located }
}

/** The first addresses of everything that can decide, beside those of IPv4 inside IPv6. */
function boundaries(family: 4 | 6): readonly bigint[] {
  const { views } = reader
  const rows = listed.flatMap(([, , ...rows]) => rows.filter((row) => !row.startsWith('AS')))
  const ranges = rows.map((row) =>
    parsePrefix(row.includes('/') ? row : `${row}/${row.includes(':') ? 128 : 32}`)!,
  )
  const edges = [
    ...bogonRanges(family),
    ...ranges.filter((range) => range.family === family),
  ].flatMap(({ first, last }) => [first, last + 1n])
  if (family === 4) return [...edges, ...[...ipv4StartList(views)].map(BigInt)]
  const keys = [...ipv6KeyList(views)].map((key) => (1n << 125n) | (BigInt(key) << 73n))
  const tails = keys.flatMap((key, piece) => {
    const group = views.ipv6_records[piece]! - tailGroupFlag
    if (group < 0) return []
    const from = views.ipv6_tail_groups[group]!
    const count = views.ipv6_tail_groups[group + 1]! - from
    return Array.from({ length: count }, (_, i) => {
      const [a = 0, b = 0, c = 0] = views.ipv6_tails.subarray((from + i) * 3)
      return key | (BigInt(a) << 64n) | (BigInt(b) << 32n) | BigInt(c)
    })
  })
  const embedded = ['2001::/32', '2002::/16', '64:ff9b::/96'].map((text) => parsePrefix(text)!)
  // As text it would be of IPv4.
  const mapped = [0xffff_0000_0000n, 0x1_0000_0000_0000n]
  return [
    ...edges,
    ...mapped,
    ...keys,
    ...tails,
    ...embedded.flatMap(({ first, last }) => [first, last + 1n]),
  ]
}

const starts = { 4: boundaries(4), 6: boundaries(6) }

function textOf(family: 4 | 6, value: bigint): string {
  const words = newAddressWords()
  bigintToWords(family, value, words)
  return formatAddress(family, words)
}

function checkPrefix(ip: string): void {
  const { prefix, judged, located } = answerTo(ip)
  const range = parsePrefix(prefix)
  expect([ip, range?.family]).toEqual([ip, located.version])
  const { family, first, last } = range!
  const words = newAddressWords()
  const sent = parseAddress(ip, words)
  const value = located.version === 4 ? BigInt(located.ipv4) : wordsToBigint(6, words)
  expect([ip, prefix, first <= value && value <= last]).toEqual([ip, prefix, true])
  const size = last - first + 1n
  const inside = () => first + (BigInt(Math.floor(random() * 2 ** 52)) * size) / 2n ** 52n
  for (const other of [first, last, inside(), inside()]) {
    const text = textOf(family, other)
    expect([ip, prefix, text, answerTo(text).judged]).toEqual([ip, prefix, text, judged])
  }
  const isWhole = size === 1n << BigInt(addressBits(family))
  const embeds = sent === 6 && embeddedKind(words) !== EMBEDDED.none && family === 6
  if (isWhole || embeds) return
  const from = first & ~size
  const until = first | size
  const isBounded = starts[family].some((start) => from < start && start < until + size)
  expect([ip, prefix, isBounded]).toEqual([ip, prefix, true])
}

describe('the prefix of an answer', () => {
  const count = inForm({ short: 600, full: 3000, long: 20_000 })
  it.each([
    ['without own lists', undefined],
    ['with own lists', matcher],
  ])('is the widest one with the same answer, %s', (_how, lists) => {
    expect.hasAssertions()
    table.useLists(lists)
    for (const ip of sampleAddresses(count)) checkPrefix(ip)
    for (const family of [4, 6] as const) {
      for (const start of starts[family]) {
        for (const value of [start - 1n, start]) {
          if (value < 0n || value >> BigInt(addressBits(family)) > 0n) continue
          const ip = textOf(family, value)
          // As text, that is the IPv4 address.
          if (!ip.startsWith('::ffff:')) checkPrefix(ip)
        }
      }
    }
    table.useLists(undefined)
  })

  it.each([
    ['10.1.2.3', '10.0.0.0/8'],
    ['224.0.0.1', '224.0.0.0/3'],
    ['192.0.0.9', '192.0.0.9/32'],
    ['::1', '::/81'],
    ['2002:0a00:1::1', '2002:a00::/24'],
    ['::ffff:10.1.2.3', '10.0.0.0/8'],
  ])('of %s is %s', (ip, prefix) => {
    expect(answerTo(ip).prefix).toBe(prefix)
  })

  it('is not wider than what insights look around in', () => {
    for (const [ip, least] of [
      ['8.8.8.8', 24],
      ['2a09::1', 64],
      ['64:ff9b::808:808', 120],
    ] as const) {
      const length = Number(prefixText(reader, ip, true).split('/')[1])
      expect([ip, length >= least]).toEqual([ip, true])
    }
  })
})
