// From files to networks and layers: prefixes that overlay their AS, files of both formats, names,
// and what is said of files that do not serve.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { collectAsFacts, noAsFacts } from '../../../build/networks/as-facts.ts'
import { readNetworks, type Networks } from '../../../build/networks/read-networks.ts'
import { loadNetworkTables } from '../../../build/networks/network-tables.ts'
import type { Network } from '../../../src/model/network.ts'
import { expectSound, lookup } from '../mmdb/mmdb-lookup.ts'
import { writeMmdb } from '../mmdb/mmdb-writer.ts'

const tables = loadNetworkTables()
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'iprisk-networks-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

function networkAt(result: Networks, address: string): Network | undefined {
  const layer = result.layers[address.includes(':') ? 6 : 4]
  return result.networks[lookup(layer, address) - 1]
}

describe('readNetworks', () => {
  it('numbers networks ascending by ASN, and leaves gaps without one', async () => {
    const path = file('a.csv', '9.0.0.0,9.0.0.255,64502,B\n1.1.1.0,1.1.1.255,64501,A\n')
    const result = await readNetworks({ files: [path], facts: noAsFacts, tables })
    expectSound(result.layers[4])
    expect([...result.layers[4].values]).toEqual([0, 1, 0, 2, 0])
    expect(result.networks.map((network) => network.asn)).toEqual([64501, 64502])
    expect(networkAt(result, '1.1.2.0')).toBeUndefined()
    expect(networkAt(result, '9.0.0.7')).toEqual({
      asn: 64502,
      organization: 'B',
      type: 'unknown',
      mobile: false,
      access: false,
      shared: false,
      corporate: false,
      cdn: false,
      anycast: false,
    })
  })

  it('overlays the prefixes of the tables on their AS', async () => {
    const rows = [
      '80.128.0.0,80.187.255.255,3320,Deutsche Telekom AG',
      // Nobody announces the rest of 134.238.0.0/16 here: no AS, no network.
      '134.238.128.0,134.238.128.255,394089,Google LLC',
      '163.116.128.0,163.116.255.255,55256,Netskope Inc',
    ]
    const path = file('b.csv', rows.join('\n'))
    const result = await readNetworks({ files: [path], facts: noAsFacts, tables })
    expectSound(result.layers[4])
    const fixed = networkAt(result, '80.186.255.255')
    const mobile = networkAt(result, '80.187.0.0')
    expect(fixed).toMatchObject({ asn: 3320, type: 'isp', mobile: false, shared: false })
    expect(mobile).toMatchObject({ asn: 3320, type: 'mobile', mobile: true, shared: true })
    expect(mobile?.organization).toBe(fixed?.organization)
    const egress = networkAt(result, '134.238.128.9')
    expect(egress).toMatchObject({ asn: 394089, type: 'business', corporate: true, access: false })
    expect(networkAt(result, '134.238.0.0')).toBeUndefined()
    // A prefix within an AS of the same table is no network of its own.
    expect(result.networks.filter((network) => network.asn === 55256)).toHaveLength(1)
    expect(result.networks).toHaveLength(4)
  })

  it('knows a resolver wherever it is announced, and never as a hoster', async () => {
    const rows = ['114.114.0.0,114.114.255.255,16276,OVH SAS', '4.2.2.0,4.2.2.255,3356,Level 3']
    const path = file('r.csv', rows.join('\n'))
    const result = await readNetworks({ files: [path], facts: noAsFacts, tables })
    expect(networkAt(result, '114.114.114.114')).toMatchObject({ type: 'cdn', anycast: true })
    expect(networkAt(result, '114.114.113.1')).toMatchObject({ type: 'hosting', anycast: false })
    expect(networkAt(result, '4.2.2.1')).toMatchObject({ type: 'unknown', anycast: true })
    expect(networkAt(result, '4.2.2.3')).toMatchObject({ type: 'unknown', anycast: false })
  })

  it('takes MMDB files, in the order in which files are named', async () => {
    const record = (asn: number, name: string) => ({
      autonomous_system_number: asn,
      autonomous_system_organization: name,
    })
    const mmdb = file(
      'c.mmdb',
      writeMmdb({
        ipVersion: 6,
        recordBits: 28,
        entries: [
          ['1.0.0.0/8', record(64501, 'From MMDB')],
          ['2001:db8::/32', record(64502, 'Six')],
        ],
      }),
    )
    const csv = file('c.csv', '1.2.0.0,2.0.0.255,64503,From CSV\n')
    const first = await readNetworks({ files: [mmdb, csv], facts: noAsFacts, tables })
    const last = await readNetworks({ files: [csv, mmdb], facts: noAsFacts, tables })
    const names = (result: Networks, address: string) => networkAt(result, address)?.organization
    for (const result of [first, last]) {
      expectSound(result.layers[4])
      expectSound(result.layers[6])
      expect(names(result, '1.1.255.255')).toBe('From MMDB')
      expect(names(result, '2.0.0.255')).toBe('From CSV')
      expect(names(result, '2001:db8::1')).toBe('Six')
    }
    expect(names(first, '1.2.0.0')).toBe('From MMDB')
    expect(names(last, '1.2.0.0')).toBe('From CSV')
  })

  it('takes a name from the feeds where the files have none', async () => {
    const path = file('d.csv', '1.0.0.0,1.0.0.255,64501,\n2.0.0.0,2.0.0.255,64502,Own\n')
    const facts = collectAsFacts([
      { asn: 64501, source: 'asn-bgptools', label: 'Eyeball', name: '"Feed", LLC' },
      { asn: 64502, source: 'asn-bgptools', label: 'Eyeball', name: 'Other' },
    ])
    const result = await readNetworks({ files: [path], facts, tables })
    expect(result.networks.map((network) => network.organization)).toEqual(['Feed, LLC', 'Own'])
  })

  const refused: readonly (readonly [name: string, content: string, code: string])[] = [
    ['empty.csv', '', 'ranges_empty'],
    ['page.csv', '<!doctype html>\n<html><body>Sorry</body></html>\n', 'ranges_empty'],
    ['asn.txt', '1.0.0.0,1.0.0.255,1,X\n', 'ranges_format'],
    ['asn.mmdb', 'no MMDB', 'mmdb_invalid'],
  ]
  for (const [name, content, code] of refused) {
    it(`refuses ${name} with ${code}`, async () => {
      const path = file(name, content)
      await expect(readNetworks({ files: [path], facts: noAsFacts, tables })).rejects.toMatchObject(
        {
          code,
          message: expect.stringContaining(path) as string,
        },
      )
    })
  }
})
