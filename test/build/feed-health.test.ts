// Which feeds fail, worst first, by a report and a snapshot store.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { catalogueFolder, loadCatalogue } from '../../build/catalogue/load-catalogue.ts'
import { failingFeeds } from '../../build/feed-health.ts'
import { atEndOfTest } from '../ends.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-health-'))
atEndOfTest(() => rmSync(folder, { recursive: true, force: true }))
const catalogue = loadCatalogue(catalogueFolder)
const day = '2026-08-22'

function store(id: string, since: string): void {
  const bytes = '192.0.2.1\n'
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const record = { sha256, bytes: 10, day, since, from: 'publisher', url: 'https://example.org/' }
  mkdirSync(join(folder, id), { recursive: true })
  writeFileSync(join(folder, id, 'a.txt'), bytes)
  const files = { 'a.txt': { ...record, fetchedAt: `${day}T00:00:00Z` } }
  writeFileSync(join(folder, id, 'snapshots.json'), JSON.stringify({ version: 1, files }))
}

it('names those that are dead, moved, failing, frozen or shrunk, in this order', async () => {
  const report = join(folder, 'report.json')
  const whole = { day, state: 'fresh', unique: 1_000_000 }
  const feeds = [
    { id: 'block-ipsum', ...whole, unique: 7 },
    { id: 'proxy-iplocate', ...whole },
    {
      id: 'proxy-monosans',
      ...whole,
      quarantined: { reasons: ['it is a page'], instead: 'nothing' },
    },
    { id: 'tor-exits-x4b', ...whole },
    { id: 'vpn-gluetun-hidemyass', ...whole, day: '2021-09-21' },
    { id: 'vpn-pia', ...whole, trouble: 'failing', problem: 'the connection broke' },
    { id: 'vpn-tunnelbear', ...whole, state: 'missing', unique: 0, problem: 'never fetched' },
    { id: 'bot-googlebot', ...whole, trouble: 'moved', problem: 'has none of the members' },
    { id: 'proxy-databay', ...whole, trouble: 'dead', problem: 'https.txt: status 404' },
    { id: 'vpn-az0', ...whole, day: '2025-08-31' },
    // An operator's ranges may stay the same for years.
    { id: 'hosting-fastly', ...whole },
  ]
  writeFileSync(report, JSON.stringify({ feeds, table: { as_of: day } }))
  store('proxy-iplocate', '2026-08-18')
  store('tor-exits-x4b', '2026-08-20')
  store('vpn-gluetun-hidemyass', day)
  store('hosting-fastly', '2024-10-08')
  const found = await failingFeeds(catalogue, { report, snapshots: folder })
  expect(found.map(({ id, state, why }) => `${id} ${state}: ${why}`)).toEqual([
    'proxy-databay dead: https.txt: status 404',
    'bot-googlebot moved: has none of the members',
    'vpn-pia failing: the connection broke',
    'vpn-tunnelbear failing: never fetched',
    'proxy-iplocate frozen: it has been the same since 2026-08-18, 4 days (hourly: at most 3)',
    'vpn-az0 frozen: its data are of 2025-08-31, 356 days old when it was fetched (daily: at most 14)',
    'vpn-gluetun-hidemyass frozen: its data are of 2021-09-21, 1,796 days old when it was fetched (monthly: at most 90)',
    'block-ipsum shrunk: it holds 7 entries; 120,430 are usual',
    'proxy-monosans shrunk: it is a page',
  ])
})

it('says nothing where nothing was built', async () => {
  const report = join(folder, 'none.json')
  expect(await failingFeeds(catalogue, { report, snapshots: folder })).toEqual([])
})
