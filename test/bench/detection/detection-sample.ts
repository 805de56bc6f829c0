// A small world for the measures: an access network, two hosters, and feeds that overlap, nest and
// republish each other. Made by the product's own steps from texts, so that a test names only
// those.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crawlersFile } from '../../../build/evidence/builtin-feeds.ts'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { type World, newWorld, readWorldNetworks } from '../../../bench/detection/world/cells.ts'
import { loadNetworkTables } from '../../../build/networks/network-tables.ts'
import { newParseCounts } from '../../../build/parse/parse-counts.ts'
import type { ParsedSnapshot } from '../../../build/evidence/read-snapshots.ts'
import { type Day, parseDay } from '../../../src/base/day.ts'

export const today = parseDay('2026-08-22') as Day
export const tables = loadNetworkTables()

/** 20.0.0.0/16 people's lines, 21.0.0.0/16 and 22.0.0.0/16 hosters; documentation ASNs. */
const announced = [
  '20.0.0.0,20.0.255.255,64496,Example Lines',
  '21.0.0.0,21.0.255.255,64497,Example Hosting',
  '22.0.0.0,22.0.255.255,64498,Other Hosting',
  '2a00::,2a00:ffff:ffff:ffff:ffff:ffff:ffff:ffff,64496,Example Lines',
]

export function feedOf(own: Partial<Feed> & Pick<Feed, 'id' | 'kind'>): Feed {
  return {
    title: own.id,
    provider: '',
    group: own.id,
    weight: 0.8,
    assurance: 'good',
    rolling: false,
    enabled: true,
    licence: 'CC0-1.0',
    homepage: 'https://example.com/',
    cadence: 'daily',
    asns: [],
    widest: { ipv4: 8, ipv6: 16 },
    files: [],
    ...own,
  }
}

export function fileOf(feed: Feed, texts: readonly string[], label?: string): ParsedSnapshot {
  const entries = texts.map((text, at) => ({
    text,
    place: `line ${at + 1}`,
    ...(label === undefined ? {} : { label }),
  }))
  return { feed, tally: newParseCounts(feed.id), entries, day: today, problem: undefined }
}

/** The AS facts that make the networks what they are. */
export const facts = [
  fileOf(
    feedOf({ id: 'asn-bgptools-tags', kind: 'network', group: 'bgptools' }),
    ['AS64496'],
    'dsl',
  ),
  fileOf(feedOf({ id: 'hosting-asn-x4b', kind: 'hosting', group: 'bad-asn-list' }), [
    'AS64497',
    'AS64498',
  ]),
  fileOf(
    feedOf({ id: 'asn-peeringdb-classes', kind: 'network', group: 'peeringdb' }),
    ['AS64497'],
    'hosting',
  ),
]

export async function worldOf(files: readonly ParsedSnapshot[]): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-measure-test-'))
  try {
    const path = join(folder, 'networks.csv')
    writeFileSync(path, `${announced.join('\n')}\n`)
    const all = [crawlersFile(tables), ...facts, ...files]
    const land = await readWorldNetworks({ files: all, tables, networkFiles: [path] })
    return newWorld({ land, files: all, tables, asOf: today })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
