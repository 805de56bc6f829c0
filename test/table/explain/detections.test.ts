// Detections (contract 6.8) of the small table against its answers (detection-twin.ts), in order.

import { describe, expect, it } from 'vitest'
import { openTable } from '../../../src/table/open-table.ts'
import { sampleAddresses } from '../../policy/sample-addresses.ts'
import { writeSmallTable } from '../small-table.ts'
import { detectionsAt, wrongDetections } from './detection-twin.ts'

const table = openTable(writeSmallTable())

describe('detections', () => {
  it('are what the answer says, for addresses of every form', () => {
    const wrong: string[] = []
    const seen = new Set<string>()
    for (const ip of sampleAddresses(3000)) {
      wrong.push(...wrongDetections(table, ip))
      for (const { kind } of detectionsAt(table, ip)) seen.add(kind)
    }
    expect(wrong.slice(0, 5)).toEqual([])
    const kinds = ['blocklist', 'hosting', 'proxy', 'relay', 'residential_proxy', 'tor', 'vpn']
    expect([...seen].toSorted()).toEqual(expect.arrayContaining(kinds))
  })

  it('have one row for each kind, strongest first', () => {
    const days = { first_seen: expect.any(String), last_seen: expect.any(String) }
    expect(detectionsAt(table, '11.1.1.1')).toMatchObject([
      { kind: 'vpn', provider: 'Example VPN', ...days },
      { kind: 'hosting', provider: 'Example Hosting' },
    ])
    expect(detectionsAt(table, '10.0.0.1')).toEqual([])
  })
})
