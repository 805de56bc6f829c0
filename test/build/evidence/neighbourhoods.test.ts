// Which ranges have neighbours to tell of, or are inferred to be a VPN's, against small lists of
// addresses.

import { describe, expect, it } from 'vitest'
import { neighbourFeeds } from '../../../build/evidence/builtin-feeds.ts'
import { newEvidenceBook } from '../../../build/evidence/evidence-book.ts'
import { addNeighbourhoods } from '../../../build/evidence/neighbourhoods.ts'
import type { Observation } from '../../../build/layer/flatten-evidence.ts'
import { newLayerPieces } from '../../../build/layer/layer.ts'
import { parseAddress } from '../../../src/ip/parse-address.ts'
import { formatRange, wordsToBigint } from '../../../src/ip/range.ts'
import { inferredVpnId } from '../../../src/score/weight/weigh-evidence.ts'
import { type Sample, evidenceOf, hoster, home, today } from '../../score/evidence-sample.ts'

const sourceIds = ['feed', ...Object.values(neighbourFeeds).map(({ id }) => id)]

/** Homes below 128.0.0.0, then a hoster with 2,048 addresses, a CDN, and another large hoster. */
const networks = [home, hoster, { ...hoster, cdn: true }, { ...hoster, asn: 64501 }]
const layers = {
  4: layerOf(4, [
    ['0.0.0.0', 1],
    ['128.0.0.0', 2],
    ['128.0.8.0', 3],
    ['129.0.0.0', 4],
  ]),
  6: layerOf(6, [
    ['::', 0],
    ['2001:db8::', 2],
  ]),
}

function layerOf(family: 4 | 6, pieces: readonly (readonly [string, number])[]) {
  const layer = newLayerPieces(family)
  const words = new Uint32Array(4)
  for (const [text, value] of pieces) {
    parseAddress(text, words)
    layer.add(words, value)
  }
  return layer.layer()
}

/** What is told of neighbours: `kind provider range`, or `inferred range`. */
function told(
  listed: readonly (readonly [string, Sample])[],
  seen: (readonly number[])[] = [],
): readonly string[] {
  const book = newEvidenceBook()
  const observations: Record<4 | 6, Observation[]> = { 4: [], 6: [] }
  for (const [text, sample] of listed) {
    const words = new Uint32Array(4)
    const family = parseAddress(text, words) === 4 ? 4 : 6
    const address = wordsToBigint(family, words)
    const range = { family, first: address, last: address } as const
    const evidence = book.id({ source: 0, evidence: evidenceOf(sample), range })
    observations[family].push({ first: address, last: address, evidence })
  }
  const before = { 4: observations[4].length, 6: observations[6].length }
  const context = { asOf: today, book, observations, sourceIds, networks: { networks, layers } }
  addNeighbourhoods(context)
  return ([4, 6] as const).flatMap((family) =>
    observations[family].slice(before[family]).map(({ evidence }) => {
      const { evidence: near, range } = book.at(evidence)
      expect(near.match).toBe('near')
      if (near.voice.id === inferredVpnId) {
        seen.push([today - near.lastSeen, near.daysListed, near.daysObserved])
        return `inferred ${formatRange(range!)}`
      }
      return `${near.kind} ${near.provider} ${formatRange(range!)}`
    }),
  )
}

const server: Sample = { kind: 'vpn', provider: 'Example VPN' }
const tested: Sample = { kind: 'proxy', feed: 'proxy-tested' }
const blocked: Sample = { kind: 'blocklist', feed: 'block', assurance: 'good' }

describe('addNeighbourhoods', () => {
  it('tells of one server in a /24, and infers from two of whichever operators', () => {
    const other = { ...server, provider: 'Other VPN' }
    expect(
      told([
        ['192.0.2.1', server],
        ['192.0.2.200', other],
        ['192.0.3.1', server],
      ]),
    ).toEqual([
      'vpn Example VPN 192.0.2.0/24',
      'vpn Example VPN 192.0.3.0/24',
      'vpn Other VPN 192.0.2.0/24',
      'inferred 192.0.2.0/24',
    ])
  })

  it('has the newest day and the lowest share of the servers it rests on', () => {
    const days = (first: Sample, second: Sample): readonly (readonly number[])[] => {
      const seen: (readonly number[])[] = []
      told(
        [
          ['192.0.2.1', { ...server, ...first }],
          ['192.0.2.2', { ...server, ...second }],
        ],
        seen,
      )
      return seen
    }
    const often = { ...server, age: 3, listed: 20 }
    const seldom = { ...server, age: 9, listed: 4, observed: 28 }
    expect(days(often, seldom)).toEqual([[3, 4, 28]])
    expect(days(seldom, often)).toEqual([[3, 4, 28]])
    // A rolling window states no share.
    expect(days(often, { ...server, rolling: true })).toEqual([[0, 0, 30]])
  })

  it('takes of IPv6 a /64 for an address, and tells of a /48', () => {
    const inOneLine = ['2001:db8:1:1::1', '2001:db8:1:1::2'] as const
    expect(told(inOneLine.map((ip) => [ip, server]))).toEqual(['vpn Example VPN 2001:db8:1::/48'])
    expect(told([...inOneLine, '2001:db8:1:ffff::1'].map((ip) => [ip, server]))).toEqual([
      'vpn Example VPN 2001:db8:1::/48',
      'inferred 2001:db8:1::/48',
    ])
  })

  it('takes no third party, no consumer’s VPN, no CDN, and nothing that has faded', () => {
    const silent: readonly Sample[] = [
      { ...server, assurance: 'weak' },
      { ...server, consumer: true },
      { ...server, provider: '' },
      { ...server, age: 61 },
      { ...server, weight: 0.2 },
    ]
    for (const one of silent) {
      expect(told(['192.0.2.1', '192.0.2.2'].map((ip) => [ip, one]))).toEqual([])
    }
    expect(told(['128.0.9.1', '128.0.9.2'].map((ip) => [ip, server]))).toEqual([])
    // Where servers were measured to stay for years, old ones speak.
    const lasting = { ...server, age: 400, halfLives: { elsewhere: 649 } }
    expect(told(['192.0.2.1', '192.0.2.2'].map((ip) => [ip, lasting]))).toContain(
      'inferred 192.0.2.0/24',
    )
    // The same address twice is one.
    expect(
      told([
        ['192.0.2.1', server],
        ['192.0.2.1', { ...server, feed: 'b' }],
      ]),
    ).toEqual(['vpn Example VPN 192.0.2.0/24'])
  })

  it('infers in a network of three operators from one server in a /22', () => {
    const rented = (ips: readonly string[]) =>
      told(ips.map((ip, at) => [ip, { ...server, provider: `VPN ${at % 3}` }])).filter((one) =>
        one.startsWith('inferred'),
      )
    // Three servers in 2,048 addresses; the network ends within the /22 of the last one.
    expect(rented(['128.0.0.1', '128.0.1.1', '128.0.4.1'])).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7].map((at) => `inferred 128.0.${at}.0/24`),
    )
    expect(rented(['128.0.0.1', '128.0.1.1'])).toEqual([])
    // A /8 and more has too few; people's lines have none.
    expect(rented(['200.0.0.1', '200.0.1.1', '200.0.4.1'])).toEqual([])
    expect(rented(['20.0.0.1', '20.0.1.1', '20.0.4.1'])).toEqual([])
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
