// Situations that need time (others: test/score/situations.test.ts), on tables built by the real
// command line from small lists: a folder of past days, imported, and a mirror with the lists of
// today. Each situation has an address of its own.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveFolder } from '../../../bench/harness/site.ts'
import { formatDay } from '../../../src/base/day.ts'
import type { Day } from '../../../src/base/day.ts'
import type { InsightsAnswer } from '../../../src/api/insights-answer.ts'
import { newFolder, runProgram } from '../../cli/program.ts'
import { addresses } from '../acceptance/acceptance-sample.ts'
import { writeMmdb } from '../mmdb/mmdb-writer.ts'
import { today } from './history-sample.ts'

const folder = newFolder()
const publisher = join(folder, 'publisher')
const past = join(folder, 'past')

/** All of 9.0.0.0/8 are people's lines (Comcast), 11.0.0.0/8 is a hoster's (OVH). */
const homes = {
  proxyOnce: '9.201.0.1',
  proxyOften: '9.201.0.2',
  proxyMissing: '9.201.0.3',
  proxyUntested: '9.204.0.1',
  residentialNow: '9.202.0.1',
  residentialOld: '9.202.0.2',
  // Each in a /24 of its own, or they would be neighbours.
  vpnOld: '9.203.0.1',
  vpnExpired: '9.203.1.2',
  vpnLong: '9.203.2.3',
  vpnToday: '9.203.3.4',
} as const
/** In a list whose servers were measured to stay, which names its operator. */
const servers = { left: '11.2.0.1', leftLongAgo: '11.2.1.1' } as const
const exits = {
  left: '11.1.0.1',
  leftLongAgo: '11.1.0.2',
  stays: '11.1.0.3',
  atHomeLongAgo: '9.205.0.1',
} as const

interface List {
  /** The mirror's file and how a line of it is written. */
  readonly file: string
  readonly write: (texts: readonly string[]) => string
  /** Always listed, so that the list keeps its size. */
  readonly always: readonly string[]
  /** Days before today with a snapshot. */
  readonly snapshots: readonly number[]
  /** Days before today on which each was listed; 0 is today's own list. */
  readonly on: Readonly<Record<string, readonly number[]>>
}

const days = (from: number, to: number): number[] =>
  Array.from({ length: from - to + 1 }, (_, at) => from - at)
const lines = (texts: readonly string[]): string => `${texts.join('\n')}\n`

const lists: Readonly<Record<string, List>> = {
  'proxy-iplocate': {
    file: 'all-proxies.txt',
    write: (texts) => lines(texts.map((text) => `http://${text}:8080`)),
    always: addresses(200, 1),
    snapshots: days(40, 1),
    on: { [homes.proxyOnce]: [0], [homes.proxyOften]: days(29, 0) },
  },
  'proxy-proxmint': {
    file: 'all.json',
    write: (texts) => JSON.stringify({ proxies: texts.map((ip) => ({ ip })) }),
    always: addresses(2000, 2),
    // Of 30 days nine have a snapshot, and all nine list it.
    snapshots: [28, 25, 22, 19, 15, 12, 9, 4],
    on: { [homes.proxyMissing]: [28, 25, 22, 19, 15, 12, 9, 4, 0] },
  },
  'proxy-proxifly': {
    file: 'all.txt',
    write: (texts) => lines(texts.map((text) => `http://${text}:8080`)),
    always: addresses(400, 6),
    snapshots: days(40, 1),
    on: { [homes.proxyUntested]: [0] },
  },
  'resproxy-avastel-1day': {
    file: 'avastel-proxy-bot-ips-1day.txt',
    write: (texts) => lines(['ip_address;autonomous_system', ...texts.map((one) => `${one};AS1`)]),
    // A file of less than 100 kB would be refused.
    always: addresses(9000, 3),
    snapshots: days(30, 1),
    on: { [homes.residentialNow]: days(29, 0), [homes.residentialOld]: days(29, 9) },
  },
  // How long its servers stay was not measured: they fade as those of a third party's list do.
  'vpn-pia': {
    file: 'pia.txt',
    write: lines,
    always: addresses(400, 4),
    // Nothing was fetched in most of the time since: no evidence of absence, and none of presence.
    snapshots: [110, 100, 95, 91, 85, 80, 79, 60, 30, 2, 1],
    on: {
      [homes.vpnOld]: [85, 80],
      [homes.vpnExpired]: [100, 95, 91],
      [homes.vpnLong]: [110, 100, 1, 0],
      [homes.vpnToday]: [0],
    },
  },
  'vpn-mullvad': {
    file: 'mullvadvpn.txt',
    write: (texts) => lines(texts.map((text) => `${text}/32`)),
    always: addresses(200, 7),
    snapshots: [110, 100, 85, 80, 79, 60, 30, 2, 1],
    on: { [servers.left]: [85, 80], [servers.leftLongAgo]: [110, 100] },
  },
  'tor-exits-x4b': {
    file: 'ipv4.txt',
    write: (texts) => lines(texts.map((text) => `${text}/32`)),
    always: addresses(200, 5),
    snapshots: days(20, 1),
    on: {
      [exits.left]: days(20, 1),
      [exits.leftLongAgo]: days(20, 10),
      [exits.atHomeLongAgo]: days(20, 10),
      [exits.stays]: days(20, 0),
    },
  },
}

const dateOf = (age: number): string => formatDay((today - age) as Day)

function listedOn(list: List, age: number): readonly string[] {
  const some = Object.entries(list.on).flatMap(([text, ages]) => (ages.includes(age) ? [text] : []))
  return [...list.always, ...some]
}

let mirror: Awaited<ReturnType<typeof serveFolder>>

beforeAll(async () => {
  mkdirSync(publisher)
  mirror = await serveFolder(publisher)
  for (const [id, list] of Object.entries(lists)) {
    mkdirSync(join(publisher, id), { recursive: true })
    mkdirSync(join(past, id), { recursive: true })
    writeFileSync(join(publisher, id, list.file), list.write(listedOn(list, 0)))
    for (const age of list.snapshots) {
      const text = gzipSync(lines(listedOn(list, age)))
      writeFileSync(join(past, id, `${dateOf(age)}.txt.gz`), text)
    }
  }
  const ids = Object.keys(lists).map((id) => ({ id, snapshot_date: dateOf(0) }))
  writeFileSync(join(publisher, 'feeds.json'), JSON.stringify(ids))
  const rows = ['9.0.0.0,9.255.255.255,7922,Comcast', '11.0.0.0,11.255.255.255,16276,OVH']
  writeFileSync(join(folder, 'networks.csv'), lines(rows))
  const place = { country_code: 'NO', city: 'Oslo', latitude: 59.9, longitude: 10.7 }
  const record = { ...place, postcode: '', state1: '', state2: '', timezone: '' }
  const places = { ipVersion: 4, recordBits: 28, entries: [['9.0.0.0/8', record]] } as const
  writeFileSync(join(folder, 'places.mmdb'), writeMmdb(places))
  const names = readdirSync('data/feeds').filter((name) => name.endsWith('.json'))
  const feeds = names.map((name) => name.slice(0, -5)).map((id) => [id, id in lists])
  const build = {
    mirror: mirror.url,
    feeds: Object.fromEntries(feeds) as Record<string, boolean>,
    networks: ['networks.csv'],
    locations: ['places.mmdb'],
  }
  writeFileSync(join(folder, 'iprisk.json'), JSON.stringify({ table: 'now.iprisk', build }))
  await run('history', 'import', past)
  await buildTo('now.iprisk')
})
afterAll(() => {
  mirror.close()
  rmSync(folder, { recursive: true, force: true })
})

const run = (...args: readonly string[]) => runProgram(args, { cwd: folder })

async function buildTo(out: string): Promise<void> {
  const { code, err } = await run('build', `--as-of=${dateOf(0)}`, `--out=${join(folder, out)}`)
  expect(code, err).toBe(0)
  expect(err).not.toContain('quarantined')
}

async function explained(address: string) {
  const { out } = await run('explain', '--json', address)
  const answer = JSON.parse(out) as InsightsAnswer
  const { classification, risk_score: score, reasons, proxy, signals, insights } = answer
  return { classification, score, reasons, proxy, signals, evidence: insights!.evidence }
}

describe('on people’s lines', () => {
  it('an open proxy, seen 1 day of 30, today: tested by its publisher, 60 or more', async () => {
    const found = await explained(homes.proxyOnce)
    expect(found).toMatchObject({ classification: 'proxy', proxy: { percent_days_seen: 3.33 } })
    expect(found.score).toBeGreaterThanOrEqual(60)
    expect(found.reasons).not.toContain('rarely_seen')
    expect(found.evidence[0]).toMatchObject({ days_seen: 1, days_observed: 30 })
  })

  it('the same merely listed: about 36', async () => {
    const found = await explained(homes.proxyUntested)
    expect(found).toMatchObject({ classification: 'proxy', proxy: { percent_days_seen: 3.33 } })
    // 36 for a feed of weight 1; this one's is less.
    expect(Math.abs(found.score - 36 * weightOf('proxy-proxifly'))).toBeLessThan(2)
    expect(found.reasons).toContain('rarely_seen')
  })

  it('one seen on all of them counts in full', async () => {
    const found = await explained(homes.proxyOften)
    expect(found.proxy?.percent_days_seen).toBe(100)
    expect(found.score).toBeGreaterThanOrEqual(60)
    expect(found.evidence[0]).toMatchObject({ first_seen: dateOf(29), days_seen: 30 })
  })

  it('missing days are no evidence of absence', async () => {
    const found = await explained(homes.proxyMissing)
    expect(found.evidence[0]).toMatchObject({ days_seen: 9, days_observed: 9 })
    expect(found.proxy?.percent_days_seen).toBe(100)
    expect(found.reasons).not.toContain('rarely_seen')
  })

  it('a residential proxy 9 days ago, nothing since, is one still, 25 to 60', async () => {
    const found = await explained(homes.residentialOld)
    expect(found).toMatchObject({ classification: 'residential_proxy' })
    expect(found.score).toBeGreaterThanOrEqual(25)
    expect(found.score).toBeLessThanOrEqual(60)
    expect(found.evidence[0]).toMatchObject({ last_seen: dateOf(9), days_seen: 21 })
    const now = await explained(homes.residentialNow)
    expect(now).toMatchObject({ classification: 'residential_proxy' })
    expect(now.score).toBeGreaterThanOrEqual(60)
  })

  it('VPN evidence 80 days old, nothing since, is clean, under 15, with a reason', async () => {
    const found = await explained(homes.vpnOld)
    expect(found).toMatchObject({ classification: 'clean', proxy: null })
    expect(found.score).toBeGreaterThan(0)
    expect(found.score).toBeLessThan(15)
    expect(found.reasons).toEqual(['vpn_trace', 'evidence_decayed'])
    expect(found.evidence[0]).toMatchObject({ first_seen: dateOf(85), last_seen: dateOf(80) })
  })

  it('what is older than 90 days is gone', async () => {
    const found = await explained(homes.vpnExpired)
    expect(found).toMatchObject({ classification: 'clean', score: 0, reasons: [], evidence: [] })
  })

  it('since when it is known does not end with the window of the share', async () => {
    const found = await explained(homes.vpnLong)
    expect(found.evidence[0]).toMatchObject({
      first_seen: dateOf(110),
      last_seen: dateOf(0),
      days_seen: 2,
      // Today's and those of 1 and 2 days ago; the 30th day back is no part of the 30.
      days_observed: 3,
    })
    // Of at least seven days, however few there were.
    expect(found.proxy?.percent_days_seen).toBe(28.57)
    expect((await explained(homes.vpnToday)).proxy?.percent_days_seen).toBe(14.29)
  })
})

describe('on a hoster’s network', () => {
  it('a server that its operator’s own list named 80 days ago, nothing since: vpn, provider named', async () => {
    const found = await explained(servers.left)
    expect(found).toMatchObject({
      classification: 'vpn',
      proxy: { type: 'vpn', provider: 'Mullvad', last_seen_at: dateOf(80) },
      signals: { vpn: true },
    })
    expect(found.evidence[0]).toMatchObject({ first_seen: dateOf(85), last_seen: dateOf(80) })
    // Half of it is gone after 632 days only.
    expect(found.reasons).toContain('vpn_listed')
    expect(found.reasons).not.toContain('evidence_decayed')
    expect(found.score).toBeGreaterThanOrEqual(50)
  })

  it('one that it named 100 days ago is one still', async () => {
    const found = await explained(servers.leftLongAgo)
    expect(found).toMatchObject({ classification: 'vpn', proxy: { last_seen_at: dateOf(100) } })
  })
})

describe('Tor', () => {
  it('an exit that left the consensus yesterday is worth half, ten days ago a trace', async () => {
    const [stays, left, gone, atHome] = await Promise.all([
      explained(exits.stays),
      explained(exits.left),
      explained(exits.leftLongAgo),
      explained(exits.atHomeLongAgo),
    ])
    expect(stays).toMatchObject({ classification: 'tor', proxy: { last_seen_at: dateOf(0) } })
    expect(left).toMatchObject({ classification: 'tor', proxy: { last_seen_at: dateOf(1) } })
    const half = (85 * weightOf('tor-exits-x4b')) / 2
    expect(Math.abs(left.score - half)).toBeLessThan(12)
    expect(stays.score - left.score).toBeGreaterThan(25)
    // Many come back: points, no signal.
    expect(gone).toMatchObject({ classification: 'hosting', signals: { tor: false } })
    expect(gone.reasons).toContain('tor_trace')
    expect(atHome).toMatchObject({ classification: 'clean', signals: { tor: false }, proxy: null })
    expect(atHome.reasons).toContain('tor_trace')
    expect(atHome.score).toBeGreaterThan(0)
    expect(atHome.score).toBeLessThan(25)
  })
})

describe('the table', () => {
  it('is the same to the last byte after the same import again', async () => {
    const again = await run('history', 'import', past)
    expect(again.code, again.err).toBe(0)
    await buildTo('again.iprisk')
    expect(hashOf('again.iprisk')).toBe(hashOf('now.iprisk'))
  })

  it('and is another one without the days, where nothing is known of before', async () => {
    const other = join(folder, 'none')
    const out = join(folder, 'none.iprisk')
    const { code } = await run(
      'build',
      `--as-of=${dateOf(0)}`,
      `--out=${out}`,
      `--history=${other}`,
    )
    expect(code).toBe(0)
    expect(hashOf('none.iprisk')).not.toBe(hashOf('now.iprisk'))
    const asked = ['explain', '--json', `--table=${out}`, homes.vpnOld]
    const answer = JSON.parse((await run(...asked)).out) as InsightsAnswer
    expect([answer.risk_score, answer.insights?.evidence]).toEqual([0, []])
  })
})

function weightOf(id: string): number {
  return (JSON.parse(readFileSync(`data/feeds/${id}.json`, 'utf8')) as { weight: number }).weight
}

function hashOf(name: string): string {
  return createHash('sha256')
    .update(readFileSync(join(folder, name)))
    .digest('hex')
}
