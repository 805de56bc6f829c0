// A publisher goes wrong and an operator builds every day: the command line against a real mirror,
// real files, and a server that takes up what was built.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BuildReport } from '../../../build/build-report.ts'
import {
  publishSample,
  sampleDay,
  writeSampleWorkspace,
} from '../../../bench/faults/compiler/sample.ts'
import { newFolder, runProgram } from '../../cli/program.ts'
import { writeMmdb } from '../mmdb/mmdb-writer.ts'
import { startServer } from '../../serve/server.ts'
import { serveFolder } from '../../../bench/harness/site.ts'
import { addresses } from './acceptance-sample.ts'
import { eventually } from '../../eventually.ts'

const folder = newFolder()
const table = join(folder, 'world.iprisk')
const publisher = join(folder, 'publisher')
const on = ['block-ddrimus', 'vpn-tunnelbear']

const abuse = addresses(2000, 1)
const tunnels = addresses(2000, 2)

let mirror: Awaited<ReturnType<typeof serveFolder>>

beforeAll(async () => {
  mkdirSync(publisher, { recursive: true })
  mirror = await serveFolder(publisher)
  writeNetworks(7922)
  const place = { country_code: 'NO', city: 'Oslo', latitude: 59.9, longitude: 10.7 }
  const record = { ...place, postcode: '', state1: '', state2: '', timezone: '' }
  const places = { ipVersion: 4, recordBits: 28, entries: [['9.0.0.0/8', record]] } as const
  writeFileSync(join(folder, 'places.mmdb'), writeMmdb(places))
  const known = readdirSync('data/feeds').filter((name) => name.endsWith('.json'))
  const feeds = known.map((name) => name.slice(0, -5)).map((id) => [id, on.includes(id)])
  writeFileSync(
    join(folder, 'iprisk.json'),
    JSON.stringify({
      table,
      build: {
        mirror: mirror.url,
        feeds: Object.fromEntries(feeds) as Record<string, boolean>,
        networks: ['networks.csv'],
        locations: ['places.mmdb'],
      },
    }),
  )
})
afterAll(() => {
  mirror.close()
  rmSync(folder, { recursive: true, force: true })
})

/** All of 9.0.0.0/8 and some of the canaries' space, the first by an AS of choice. */
function writeNetworks(asn: number): void {
  const rows = [`9.0.0.0,9.255.255.255,${asn},Example`, '8.8.8.0,8.8.8.255,15169,Google']
  writeFileSync(join(folder, 'networks.csv'), `${rows.join('\n')}\n`)
}

function publish(day: string, lists: Readonly<Record<string, readonly string[] | string>>): void {
  const files = { 'block-ddrimus': 'blocklist.txt', 'vpn-tunnelbear': 'tunnelbear_ips.txt' }
  for (const [id, name] of Object.entries(files)) {
    const list = lists[id] ?? ''
    mkdirSync(join(publisher, id), { recursive: true })
    writeFileSync(join(publisher, id, name), typeof list === 'string' ? list : list.join('\n'))
  }
  const days = on.map((id) => ({ id, snapshot_date: day }))
  writeFileSync(join(publisher, 'feeds.json'), JSON.stringify(days))
}

async function build(day: string, ...args: readonly string[]) {
  const ended = await runProgram(['build', '--as-of', day, ...args], { cwd: folder })
  const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as BuildReport
  const feed = (id: string) => report.feeds.find((each) => each.id === id)
  return { ...ended, report, feed }
}

async function check(...texts: readonly string[]): Promise<readonly string[]> {
  const { out } = await runProgram(['check', '--json', ...texts], { cwd: folder })
  return out
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { classification, signals } = JSON.parse(line) as {
        classification: string
        signals: Record<string, boolean>
      }
      return `${classification}${signals['blocklist_match'] === true ? ' listed' : ''}`
    })
}

const hash = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

const daysOf = (feed: string): readonly string[] =>
  readdirSync(join(folder, 'data/history', feed)).sort()

const addressOfBoth = ['9.1.0.7', '9.2.7.7']

describe('day after day', () => {
  it('a good day goes live', async () => {
    publish('2026-08-20', { 'block-ddrimus': abuse, 'vpn-tunnelbear': tunnels })
    const { code, err, out } = await build('2026-08-20')
    expect(code, err).toBe(0)
    expect(out).toBe(`${table}\n`)
    expect(await check(...addressOfBoth)).toEqual(['clean listed', 'vpn'])
  })

  it('a day of poison: nothing of it gets in, and everyone is told', async () => {
    publish('2026-08-21', {
      'block-ddrimus': [...abuse.slice(0, 200), ...addresses(10, 99)],
      'vpn-tunnelbear': [...tunnels, '9.128.0.0/9', '0.0.0.0/0', '8.8.8.8'],
    })
    const { code, err, feed, report } = await build('2026-08-21')
    expect(code, err).toBe(0)
    expect(err).toMatch(/block-ddrimus is quarantined: it shrank by half: 210 entries.* is 2000/)
    expect(err).toMatch(/vpn-tunnelbear is quarantined: it lists 9\.128\.0\.0\/9, wider than \/32/)
    expect(feed('block-ddrimus')?.quarantined?.instead).toBe('its snapshot of 2026-08-20')
    expect(feed('vpn-tunnelbear')?.kept).toBe(2000)
    expect(report.promotion).toMatchObject({ promoted: true, flipped: 0 })
    const found = await check(...addressOfBoth, '9.99.0.1', '9.200.0.1', '8.8.8.8')
    expect(found).toEqual(['clean listed', 'vpn', 'clean', 'clean', 'clean'])
  })

  it('the server says so', async () => {
    const server = await startServer({ table })
    const name = 'iprisk_feed_quarantined'
    await eventually(async () => (await server.metric('iprisk_ready')) === 1)
    expect(await server.metric(name, 'feed="block-ddrimus"')).toBe(1)
    expect(await server.metric(name, 'feed="vpn-tunnelbear"')).toBe(1)
    expect(await server.metric(name)).toBe(2)
    expect(await server.stop()).toBe(0)
  })

  it('a single canary is dropped, counted, and costs nothing else', async () => {
    publish('2026-08-22', {
      'block-ddrimus': [...abuse, '66.249.66.1'],
      'vpn-tunnelbear': [...tunnels, '8.8.8.8'],
    })
    const { code, err, feed } = await build('2026-08-22')
    expect(code, err).toBe(0)
    expect(feed('vpn-tunnelbear')).toMatchObject({
      kept: 2000,
      dropped: { 'canary: public resolver': 1 },
      first_bad: [expect.stringContaining('8.8.8.8')],
    })
    expect(feed('vpn-tunnelbear')?.quarantined).toBeUndefined()
    expect(await check('8.8.8.8', '66.249.66.1', '9.2.7.7')).toEqual([
      'clean',
      'known_bot listed',
      'vpn',
    ])
  })

  it('a table that calls a whole ISP hosting is rejected, unless by force', async () => {
    const before = hash(table)
    const memory = readFileSync(join(folder, 'data/history/.gate/ledger.json'), 'utf8')
    const days = daysOf('vpn-tunnelbear')
    // A day that the history does not have yet, and shall not have by this.
    publish('2026-08-23', { 'block-ddrimus': abuse, 'vpn-tunnelbear': tunnels })
    writeNetworks(16_276)
    const first = await build('2026-08-22')
    expect([first.code, first.out]).toEqual([1, ''])
    expect(first.err).toMatch(/The new table is not promoted: \d+ of \d+ sampled verdicts/)
    expect(first.err).toContain('--force')
    expect(first.report.promotion.promoted).toBe(false)
    expect(first.report.table.path).toBe(`${table}.rejected`)
    expect(hash(table)).toBe(before)
    expect(existsSync(`${table}.rejected`)).toBe(true)
    expect(readFileSync(join(folder, 'data/history/.gate/ledger.json'), 'utf8')).toBe(memory)
    expect(daysOf('vpn-tunnelbear')).toEqual(days)
    const forced = await build('2026-08-22', '--force')
    expect(forced.code, forced.err).toBe(0)
    expect(forced.err).toMatch(/promoted with --force: \d+ of/)
    expect(hash(table)).not.toBe(before)
    expect(existsSync(`${table}.rejected`)).toBe(false)
  })

  it.each([
    [
      'its publisher has taken it down, and the stored copy is lost',
      [],
      () => rmSync(join(folder, 'data/snapshots/vpn-tunnelbear'), { recursive: true }),
      /vpn-tunnelbear is quarantined: .*status 404; .*; there is no stored copy/,
    ],
    [
      'its stored copy is damaged, and nothing is fetched',
      ['--offline'],
      () => writeFileSync(join(folder, 'data/snapshots/vpn-tunnelbear/tunnelbear_ips.txt'), '9'),
      /vpn-tunnelbear: \S+tunnelbear_ips\.txt does not match snapshots\.json/,
    ],
  ])('a feed without a snapshot still counts: %s', async (_title, args, lose, said) => {
    publish('2026-08-22', { 'block-ddrimus': abuse, 'vpn-tunnelbear': tunnels })
    await build('2026-08-22', '--force')
    rmSync(join(publisher, 'vpn-tunnelbear'), { recursive: true })
    lose()
    const { code, err, feed } = await build('2026-08-22', ...args)
    expect(code, err).toBe(0)
    expect(err).toMatch(said)
    expect(err).not.toContain('have no stored copy')
    expect(feed('vpn-tunnelbear')).toMatchObject({
      state: 'missing',
      kept: 2000,
      quarantined: { instead: 'its snapshot of 2026-08-22' },
    })
    expect(err).not.toMatch(/^missing/m)
    expect((await check('9.2.7.7'))[0]).toMatch(/^vpn/)
  })
})

it('of two first builds at once the second ends and is told to wait; the first goes live', async () => {
  const here = newFolder()
  const files = newFolder()
  publishSample(files, sampleDay)
  let goOn = (): void => undefined
  const second = new Promise<void>((resolve) => (goOn = resolve))
  const asked: string[] = []
  const slow = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    void second.then(() => response.end(readFileSync(join(files, path))))
  })
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  writeSampleWorkspace(here, `http://127.0.0.1:${(slow.address() as AddressInfo).port}`)
  const first = runProgram(['build'], { cwd: here })
  await eventually(() => asked.length > 0)
  const late = await runProgram(['build'], { cwd: here })
  goOn()
  const { code, err } = await first
  slow.close()
  expect(late.code).not.toBe(0)
  expect(late.err).toMatch(/Another run is writing the history in .* Wait for it, then run this/)
  expect(code, err).toBe(0)
  const { fetch } = JSON.parse(readFileSync(join(here, 'report.json'), 'utf8')) as BuildReport
  expect(fetch.answered).toBe(2)
})
