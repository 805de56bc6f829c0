// Listed addresses against counting addresses one by one.

import { describe, expect, it } from 'vitest'
import { listedAddresses } from '../../../build/evidence/listed-addresses.ts'
import { newEvidenceBook } from '../../../build/evidence/evidence-book.ts'
import {
  type Observation,
  flattenEvidence,
  newListInterner,
} from '../../../build/layer/flatten-evidence.ts'
import type { Day } from '../../../src/base/day.ts'
import type { Range } from '../../../src/ip/range.ts'
import { parseRange } from '../../../src/ip/range.ts'
import type { Evidence } from '../../../src/model/evidence.ts'
import type { Kind } from '../../../src/model/kind.ts'

const listed: readonly (readonly [number, Kind, string])[] = [
  [0, 'vpn', '9.0.0.0/24'],
  [1, 'vpn', '9.0.0.128-9.0.1.10'],
  [1, 'proxy', '9.0.0.5'],
  [0, 'tor', '9.0.0.5'],
  [2, 'vpn', '255.255.255.255'],
  [0, 'hosting', '2a00::/63'],
  [0, 'tor', '2a00::1'],
  [0, 'relay', '2a00:0:0:5::/66'],
]

function counted() {
  const book = newEvidenceBook()
  const observations: Record<4 | 6, Observation[]> = { 4: [], 6: [] }
  for (const [source, kind, text] of listed) {
    const range = parseRange(text) as Range
    // What source 2 lists has lapsed; source 1 is no feed.
    const lastSeen = source === 2 ? 99 : 100
    const evidence = { kind, match: 'range', lastSeen } as unknown as Evidence
    const id = book.id({ source, evidence, range })
    observations[range.family].push({ first: range.first, last: range.last, evidence: id })
  }
  const lists = newListInterner()
  const layers = {
    4: flattenEvidence(4, observations[4], lists),
    6: flattenEvidence(6, observations[6], lists),
  }
  const newestDays = new Map([
    [0, 100 as Day],
    [2, 100 as Day],
  ])
  return listedAddresses({ layers, lists: lists.lists, book, newestDays })
}

describe('listed addresses', () => {
  const { byKind, newestIpv4, aloneIpv4 } = counted()

  it('counts each address once a kind', () => {
    expect(byKind.vpn).toEqual({ ipv4: 256 + 11 + 1, ipv6_64s: 0 })
    expect(byKind.proxy.ipv4).toBe(1)
    expect(byKind.tor).toEqual({ ipv4: 1, ipv6_64s: 1 })
    expect(byKind.hosting).toEqual({ ipv4: 0, ipv6_64s: 2 })
    expect(byKind.relay.ipv6_64s).toBe(1)
    expect(byKind.blocklist).toEqual({ ipv4: 0, ipv6_64s: 0 })
  })

  it('counts what the newest snapshots of feeds list, without tables and what has lapsed', () => {
    expect(newestIpv4).toMatchObject({ vpn: 256, proxy: 0, tor: 1, hosting: 0 })
  })

  it('counts what only one source lists of a kind', () => {
    // Source 0: the first half of 9.0.0.0/24 as vpn, and its tor address. Source 1: the second list
    // beyond the /24, and its proxy. Source 2: the last address.
    expect(aloneIpv4.get(0)).toBe(128 + 1)
    expect(aloneIpv4.get(1)).toBe(11 + 1)
    expect(aloneIpv4.get(2)).toBe(1)
  })
})
