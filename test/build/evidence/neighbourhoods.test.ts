// Which /24s have neighbours to tell of, against small lists of addresses.

import { describe, expect, it } from 'vitest'
import { neighbourFeeds } from '../../../build/evidence/builtin-feeds.ts'
import { newEvidenceBook } from '../../../build/evidence/evidence-book.ts'
import { addNeighbourhoods } from '../../../build/evidence/neighbourhoods.ts'
import type { Observation } from '../../../build/layer/flatten-evidence.ts'
import { parseAddress } from '../../../src/ip/parse-address.ts'
import { formatRange } from '../../../src/ip/range.ts'
import { type Sample, evidenceOf, today } from '../../score/evidence-sample.ts'

const sourceIds = ['feed', ...Object.values(neighbourFeeds).map(({ id }) => id)]

/** What is told of neighbours: `kind provider range`. */
function told(listed: readonly (readonly [string, Sample])[]): readonly string[] {
  const book = newEvidenceBook()
  const observations: Observation[] = listed.map(([text, sample]) => {
    const words = new Uint32Array(4)
    parseAddress(text, words)
    const address = BigInt(words[0]!)
    const range = { family: 4, first: address, last: address } as const
    const evidence = book.id({ source: 0, evidence: evidenceOf(sample), range })
    return { first: address, last: address, evidence }
  })
  const before = observations.length
  addNeighbourhoods({
    asOf: today,
    book,
    observations,
    sourceIds,
    typeOf: (ipv4) => (ipv4 < 2 ** 31 ? 'isp' : 'hosting'),
  })
  return observations.slice(before).map(({ evidence }) => {
    const { evidence: near, range } = book.at(evidence)
    expect(near.match).toBe('near')
    return `${near.kind} ${near.provider} ${formatRange(range!)}`
  })
}

const server: Sample = { kind: 'vpn', provider: 'Example VPN' }
const tested: Sample = { kind: 'proxy', feed: 'proxy-tested' }
const blocked: Sample = { kind: 'blocklist', feed: 'block', assurance: 'good' }

describe('addNeighbourhoods', () => {
  it('takes two servers of one operator in a /24', () => {
    expect(
      told([
        ['192.0.2.1', server],
        ['192.0.2.200', server],
        ['192.0.3.1', server],
      ]),
    ).toEqual(['vpn Example VPN 192.0.2.0/24'])
  })

  it('takes no two operators, nor a third party, a consumer’s VPN, or what is long gone', () => {
    const pairs: readonly (readonly [Sample, Sample])[] = [
      [server, { ...server, provider: 'Other VPN' }],
      [
        { ...server, assurance: 'weak' },
        { ...server, assurance: 'weak' },
      ],
      [
        { ...server, consumer: true },
        { ...server, consumer: true },
      ],
      [server, { ...server, age: 61 }],
      [
        { ...server, provider: '' },
        { ...server, provider: '' },
      ],
    ]
    for (const [one, other] of pairs) {
      expect(
        told([
          ['192.0.2.1', one],
          ['192.0.2.2', other],
        ]),
      ).toEqual([])
    }
    // The same address twice is one.
    expect(
      told([
        ['192.0.2.1', server],
        ['192.0.2.1', { ...server, feed: 'b' }],
      ]),
    ).toEqual([])
  })

  it('takes two tested proxies, by whichever list', () => {
    const merelyListed: Sample = { ...tested, assurance: 'good' }
    expect(
      told([
        ['20.0.0.1', tested],
        ['20.0.0.9', { ...tested, feed: 'b' }],
      ]),
    ).toEqual(['proxy  20.0.0.0/24'])
    expect(
      told([
        ['20.0.0.1', tested],
        ['20.0.0.9', merelyListed],
      ]),
    ).toEqual([])
  })

  it('takes a /24 of which ten times as much is blocklisted as of its peers', () => {
    const many = Array.from({ length: 100 }, (_, at) => [`45.148.10.${at}`, blocked] as const)
    const peers = Array.from({ length: 40 }, (_, at) => [`46.0.${at}.1`, blocked] as const)
    // (100 + 40) / 41 is 3.4 on average: ten times that is 34.
    expect(told([...many, ...peers])).toEqual(['blocklist  45.148.10.0/24'])
    expect(told([...many.slice(0, 33), ...peers])).toEqual(['blocklist  45.148.10.0/24'])
    // Of networks of another type nothing is asked.
    const hosted = Array.from({ length: 100 }, (_, at) => [`200.0.0.${at}`, blocked] as const)
    expect(told([...hosted, ...peers])).toEqual([])
  })

  it('says the same whatever the order', () => {
    const listed = [
      ['192.0.2.1', server],
      ['192.0.2.2', server],
      ['20.0.0.1', tested],
      ['20.0.0.2', tested],
    ] as const
    expect(told(listed.toReversed())).toEqual(told(listed))
  })
})
