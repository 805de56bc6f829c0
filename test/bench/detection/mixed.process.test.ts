// Mixed is rare, and where it occurs the conflict is real (contract 3.7): in the tables over the
// sixty real days, and in one built from lists made so that they conflict.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { catalogueFolder } from '../../../build/run-build.ts'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import { compileTable } from '../../../build/compile-table.ts'
import { findMixed } from '../../../bench/detection/mixed.ts'
import type { SnapshotFile } from '../../../build/evidence/read-snapshots.ts'
import { newBuildStages } from '../../../build/build-stages.ts'
import { writeTable } from '../../../build/write/write-table.ts'
import { parseDay } from '../../../src/base/day.ts'
import { explain } from '../../../src/table/explain/explain.ts'
import { type OpenTable, openTable } from '../../../src/table/open-table.ts'
import { describeFeeds } from '../../feeds.ts'
import { feedOf, fileOf } from '../../build/gate/gate-sample.ts'
import { today, useFolder } from '../../build/history/history-sample.ts'
import { writeMmdb } from '../../build/mmdb/mmdb-writer.ts'
import { historyTable, worldDays } from '../../world/world-tables.ts'

/** Of some 3,700 million announced IPv4 addresses. */
const mixedMax = 1000

interface Known {
  readonly group: string
  readonly assurance: Feed['assurance']
}

/** What is missing for a conflict of two independent voices; none where it is one. */
function faultsOf(
  { evidence, asOf }: { readonly evidence: readonly Spoken[]; readonly asOf: number },
  feeds: ReadonlyMap<string, Known>,
): readonly string[] {
  return ['residential_proxy', 'vpn'].flatMap((kind) => {
    const own = evidence.filter((one) => one.kind === kind)
    const voices = own.map(({ feed }) => feeds.get(feed)!)
    const recent = own.some(({ last_seen }) => asOf - (parseDay(last_seen) ?? 0) <= 7)
    const groups = new Set(voices.map(({ group }) => group)).size
    const solid = groups >= 2 || voices.some(({ assurance }) => assurance === 'good')
    return [
      ...(recent ? [] : [`${kind} is not of the last 7 days`]),
      ...(solid ? [] : [`${kind} is of low confidence`]),
      ...(voices.some(({ assurance }) => assurance === 'direct') ? [`${kind} is named`] : []),
    ]
  })
}

interface Spoken {
  readonly feed: string
  readonly kind: string
  readonly last_seen: string
}

describeFeeds('in the tables of the world', () => {
  it.each(worldDays)('as of %s it is rare, and each one is a conflict', (day) => {
    const feeds = new Map(loadCatalogue(catalogueFolder).map((feed) => [feed.id, feed]))
    const table = openTable(historyTable(day))
    const { counts, examples } = findMixed(table, 100_000)
    expect(counts.mixed.ipv4 + counts.mixed.ipv6).toBeLessThanOrEqual(mixedMax)
    for (const { meeting, address, explanation } of examples) {
      const { evidence, answer } = explanation
      const faults = faultsOf({ evidence, asOf: table.asOf }, feeds)
      // With both signals alone something must keep it from being mixed.
      const right = { mixed: faults.length === 0, 'both signals': faults.length > 0 }
      expect([address, faults, { ...right, 'both kinds': true }[meeting]]).toContain(true)
      expect(answer.classification === 'mixed').toBe(meeting === 'mixed')
    }
    table.close()
  })
})

describe('in a table of lists that conflict', () => {
  const folder = useFolder()
  const all = feedOf({ kind: 'vpn', weight: 0.6, assurance: 'weak' })
  const feeds: readonly Feed[] = [
    { ...all, id: 'vpn-a', group: 'a' },
    { ...all, id: 'vpn-b', group: 'b' },
    { ...all, id: 'vpn-echo', group: 'a' },
    { ...all, id: 'vpn-own', group: 'own', assurance: 'direct', weight: 1 },
    { ...all, id: 'homes', group: 'h', kind: 'residential_proxy', assurance: 'good', weight: 0.8 },
  ]
  const lists: Readonly<Record<string, readonly string[]>> = {
    '9.1.0.1 mixed': ['homes', 'vpn-a', 'vpn-b'],
    '9.1.0.2 residential_proxy': ['homes', 'vpn-a'],
    '9.1.0.3 residential_proxy': ['homes', 'vpn-a', 'vpn-echo'],
    '9.1.0.4 residential_proxy': ['homes', 'vpn-a', 'vpn-b', 'vpn-own'],
    '9.1.0.5 vpn': ['vpn-a', 'vpn-b'],
    '11.1.0.1 vpn': ['homes', 'vpn-a', 'vpn-b'],
  }

  async function buildTable(): Promise<OpenTable> {
    const snapshots = feeds.map((feed): SnapshotFile => {
      const path = join(folder(), feed.id, 'list.txt')
      const own = Object.entries(lists).filter(([, ids]) => ids.includes(feed.id))
      mkdirSync(join(folder(), feed.id))
      writeFileSync(path, own.map(([name]) => `${name.split(' ')[0]}\n`).join(''))
      return { feed, file: fileOf('list.txt'), path, day: today }
    })
    const networks = join(folder(), 'networks.csv')
    writeFileSync(networks, '9.0.0.0,9.255.255.255,7922,Comcast\n11.0.0.0,11.9.9.9,16276,OVH\n')
    const places = join(folder(), 'places.mmdb')
    const record = { country_code: 'NO', city: 'Oslo', latitude: 59.9, longitude: 10.7 }
    const more = { postcode: '', state1: '', state2: '', timezone: '' }
    const entries = [['9.0.0.0/8', { ...record, ...more }]] as const
    writeFileSync(places, writeMmdb({ ipVersion: 4, recordBits: 28, entries: [...entries] }))
    const { assembled } = await compileTable(
      {
        snapshots,
        asOf: today,
        history: undefined,
        networkFiles: [networks],
        placeFiles: [places],
      },
      newBuildStages(() => undefined),
    )
    const path = join(folder(), 'table.iprisk')
    writeTable(path, assembled.content)
    return openTable(path)
  }

  it('is the one address of which two independent lists on either side speak', async () => {
    const table = await buildTable()
    const found = Object.keys(lists).map((name) => {
      const [address = ''] = name.split(' ')
      return `${address} ${explain(table, address)?.answer.classification ?? ''}`
    })
    expect(found).toEqual(Object.keys(lists))
    const { counts, examples } = findMixed(table, 10)
    expect(counts).toEqual({
      mixed: { ipv4: 1, ipv6: 0 },
      'both signals': { ipv4: 3, ipv6: 0 },
      'both kinds': { ipv4: 0, ipv6: 0 },
    })
    const byId = new Map(feeds.map((feed) => [feed.id, feed]))
    const faults = examples.map(({ address, explanation: { evidence } }) => [
      address,
      ...faultsOf({ evidence, asOf: table.asOf }, byId),
    ])
    expect(faults).toEqual([
      ['9.1.0.1'],
      ['9.1.0.2', 'vpn is of low confidence'],
      ['9.1.0.3', 'vpn is of low confidence'],
      ['9.1.0.4', 'vpn is named'],
    ])
    expect(examples[0]?.explanation.answer.risk_score).toBeGreaterThanOrEqual(80)
    table.close()
  })
})
