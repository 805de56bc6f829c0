// Ranges that a third party lists under their hoster's name, by who announces them today.

import { describe, expect, it } from 'vitest'
import { newEvidenceBook } from '../../../build/evidence/evidence-book.ts'
import { dropFormerOwners } from '../../../build/evidence/former-owners.ts'
import type { Observation } from '../../../build/layer/flatten-evidence.ts'
import type { Layer } from '../../../build/layer/layer.ts'
import { loadNetworkTables } from '../../../build/networks/network-tables.ts'
import { formatRange, parsePrefix } from '../../../src/ip/range.ts'
import type { Network } from '../../../src/model/network.ts'
import { evidenceOf, networkOf, type Sample } from '../../score/evidence-sample.ts'

const networks: readonly Network[] = [
  networkOf({ asn: 64_500, type: 'isp', organization: 'AIRE NETWORKS' }),
  networkOf({ asn: 64_501, type: 'isp', organization: 'Hurricane Electric LLC' }),
  networkOf({ asn: 64_502, type: 'hosting', organization: 'Leaseweb USA, Inc.' }),
  networkOf({ asn: 20_473, type: 'hosting', organization: 'The Constant Company, LLC' }),
  networkOf({ asn: 64_503, type: 'isp', access: true, organization: 'Utah Telephone' }),
]
/** 9.0.0.0/24 is the first network's, 9.0.1.0/24 the second's, and so on; 9.0.5.0 nobody's. */
const layer: Layer = {
  family: 4,
  count: 7,
  starts: Uint32Array.from([
    0, 0x09000000, 0x09000100, 0x09000200, 0x09000300, 0x09000400, 0x09000500,
  ]),
  values: Uint32Array.of(0, 1, 2, 3, 4, 5, 0),
}
const nobody: Layer = { family: 6, count: 1, starts: new Uint32Array(4), values: Uint32Array.of(0) }
const tables = loadNetworkTables()

/** What is left of one statement on `prefix`: parts, each with the name that it keeps. */
function partsOf(prefix: string, provider: string, more: Partial<Sample> = {}) {
  const book = newEvidenceBook()
  const range = parsePrefix(prefix)!
  const sample: Sample = { kind: 'hosting', match: 'range', assurance: 'weak', provider, ...more }
  const evidence = book.id({ source: 0, evidence: evidenceOf(sample), range })
  const { first, last } = range
  const observations: Record<4 | 6, Observation[]> = { 4: [{ first, last, evidence }], 6: [] }
  const space = { networks, layers: { 4: layer, 6: nobody } }
  const dropped = dropFormerOwners({ observations, book, networks: space, tables })
  const parts = observations[4].map(({ first, last, evidence }) => [
    formatRange({ family: 4, first, last }),
    book.at(evidence).evidence.provider,
  ])
  return { dropped, parts }
}

describe('a range under its hoster’s name', () => {
  it.each([
    ['9.0.0.0/24', 'ServiHosting Networks S.L.', []],
    ['9.0.0.0/24', 'aire.net', [['9.0.0.0/24', 'aire.net']]],
    ['9.0.1.0/24', 'Hurricane Electric', [['9.0.1.0/24', 'Hurricane Electric']]],
    ['9.0.2.0/24', 'Ubiquity Server Solutions', [['9.0.2.0/24', '']]],
    ['9.0.2.0/24', 'Leaseweb', [['9.0.2.0/24', 'Leaseweb']]],
    // By the name that the hand-kept table has.
    ['9.0.3.0/24', 'Vultr', [['9.0.3.0/24', 'Vultr']]],
    // The model does not count these, and says why.
    ['9.0.4.0/24', 'Hurricane Electric', [['9.0.4.0/24', 'Hurricane Electric']]],
    ['9.0.5.0/24', 'Hurricane Electric', [['9.0.5.0/24', 'Hurricane Electric']]],
  ])('%s of %s', (prefix, provider, parts) => {
    expect(partsOf(prefix, provider)).toEqual({ dropped: parts.length === 0 ? 1 : 0, parts })
  })

  it('is cut where its announcer changes', () => {
    expect(partsOf('9.0.0.0/22', 'Hurricane Electric')).toEqual({
      dropped: 1,
      parts: [
        ['9.0.1.0/24', 'Hurricane Electric'],
        ['9.0.2.0/24', ''],
        ['9.0.3.0/24', ''],
      ],
    })
  })

  it.each([
    ['a list of no names', '', {}],
    ['an operator’s own list', 'Other', { assurance: 'direct' }],
    ['a single address', 'Other', { match: 'exact' }],
    ['another kind', 'Other', { kind: 'vpn' }],
  ] as const)('%s is left alone', (_what, provider, more) => {
    expect(partsOf('9.0.0.0/24', provider, more)).toEqual({
      dropped: 0,
      parts: [['9.0.0.0/24', provider]],
    })
  })
})
