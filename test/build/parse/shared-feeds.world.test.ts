// Every file of every feed of the catalogue, whatever its role, with its own parser, against counts
// made by others: `rows` in feeds.json, and where that counts otherwise, a plain count of our own.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import type { Entry } from '../../../build/parse/entry.ts'
import { parseFile } from '../../../build/parse/parse-file.ts'
import { newParseCounts, countingSink } from '../../../build/parse/parse-counts.ts'
import type { ParseCounts } from '../../../build/parse/parse-counts.ts'
import { formatDay } from '../../../src/base/day.ts'
import { describeFeeds, feedsFolder, sharedFeeds, withSharedData } from '../../feeds.ts'

const catalogue = loadCatalogue(fileURLToPath(new URL('../../../data/feeds', import.meta.url)))
const feeds = withSharedData(catalogue)

const text = (path: string): string => readFileSync(join(feedsFolder, path), 'utf8')

function rowsByPath(): ReadonlyMap<string, number> {
  return new Map(sharedFeeds().flatMap((feed) => feed.files.map((file) => [file.path, file.rows])))
}

interface Difference {
  readonly matches: RegExp
  readonly reason: string
  /** The plain count that the entries must equal instead. */
  readonly count: (path: string) => number
}

/** Files of the shared folder that no feed reads, and why. */
const unreadFiles: Readonly<Record<string, string>> = {
  'bot-google-user-triggered/user-triggered-fetchers.json':
    'another list: what whoever runs code on App Engine or Apps Script fetches from',
}

const linesWithAsn = (path: string): number => text(path).match(/^AS\d+/gm)?.length ?? 0

/** Where `rows` of feeds.json counts otherwise, why, and what is counted here. */
const differences: readonly Difference[] = [
  {
    matches: /^asn-(bgptools-tags|peeringdb-classes)\/|^hosting-asn-x4b\//,
    reason: 'rows leaves out a header line, which these files do not have',
    count: linesWithAsn,
  },
  {
    matches: /^vpn-protonvpn\/protonvpn_logicals\.json$/,
    reason: 'rows counts entry and exit of each server; only exits are evidence',
    count: (path) => text(path).match(/"ExitIP":/g)?.length ?? 0,
  },
]

/** The days that the files state, read from them by eye. */
const statedDays: Readonly<Record<string, string>> = {
  'block-ddrimus/blocklist.txt': '2026-08-22',
  'block-ipsum/ipsum.txt': '2026-08-22',
  'bot-applebot/applebot.json': '2026-09-15',
  'bot-claudebot/bots.json': '2026-10-07',
  'vpn-az0/ip.txt': '2025-08-31',
  'bot-google-special/special-crawlers.json': '2026-08-20',
  'bot-google-user-triggered/user-triggered-fetchers-google.json': '2026-08-20',
  'bot-googlebot/googlebot.json': '2026-08-20',
  'hosting-aws/ip-ranges.json': '2026-08-22',
  'hosting-gcp/cloud.json': '2026-08-21',
  'hosting-google/goog.json': '2026-08-21',
  'hosting-linode-json/linode.json': '2026-08-21',
  'hosting-linode/geoip.linode.com.csv': '2025-07-24',
  'hosting-oracle/public_ip_ranges.json': '2026-07-27',
  'proxy-proxmint/all.json': '2026-08-22',
  'resproxy-avastel-1day/avastel-proxy-bot-ips-1day.txt': '2025-11-22',
  'resproxy-avastel/avastel-proxy-bot-ips-blocklist-5days.txt': '2026-08-22',
  'resproxy-avastel/avastel-proxy-bot-ips-blocklist-8days.txt': '2026-08-22',
  'vpn-gluetun-cyberghost/cyberghost.json': '2025-12-23',
  'vpn-gluetun-expressvpn/expressvpn.json': '2025-09-13',
  'vpn-gluetun-fastestvpn/fastestvpn.json': '2024-07-30',
  'vpn-gluetun-giganews/giganews.json': '2026-08-06',
  'vpn-gluetun-hidemyass/hidemyass.json': '2021-09-21',
  'vpn-gluetun-ipvanish/ipvanish.json': '2026-01-24',
  'vpn-gluetun-ivpn/ivpn.json': '2024-08-19',
  'vpn-gluetun-nordvpn/nordvpn.json': '2024-03-21',
  'vpn-gluetun-privado/privado.json': '2026-02-25',
  'vpn-gluetun-privatevpn/privatevpn.json': '2022-05-31',
  'vpn-gluetun-purevpn/purevpn.json': '2023-12-14',
  'vpn-gluetun-slickvpn/slickvpn.json': '2025-12-24',
  'vpn-gluetun-surfshark/surfshark.json': '2025-12-23',
  'vpn-gluetun-torguard/torguard.json': '2025-12-23',
  'vpn-gluetun-vpnsecure/vpnsecure.json': '2025-12-23',
  'vpn-gluetun-vpnunlimited/vpn-unlimited.json': '2026-08-06',
  'vpn-gluetun-vyprvpn/vyprvpn.json': '2024-03-07',
}

type FeedFile = (typeof feeds)[number]['files'][number]

async function read(
  feedId: string,
  file: FeedFile,
): Promise<{ readonly tally: ParseCounts; readonly entries: readonly Entry[] }> {
  const tally = newParseCounts(file.path)
  const entries: Entry[] = []
  const sink = countingSink(tally, (entry) => entries.push(entry))
  const path = join(feedsFolder, feedId, file.path)
  await parseFile({ ...file, path, bytesMax: 1 << 30 }, sink)
  return { tally, entries }
}

async function entriesOf(feedId: string, path: string): Promise<readonly Entry[]> {
  const feed = feeds.find((one) => one.id === feedId)
  const file = feed?.files.find((one) => one.path === path)
  if (file === undefined) throw new Error(`${feedId}/${path} is not in the catalogue`)
  return (await read(feedId, file)).entries
}

const textSet = (entries: readonly Entry[]): ReadonlySet<string> =>
  new Set(entries.map((entry) => entry.text))

describeFeeds('the shared feeds', () => {
  it('are all in the catalogue, with every file on disk but those that are left out on purpose', () => {
    expect(feeds.map((feed) => feed.id)).toEqual(
      sharedFeeds()
        .map((feed) => feed.id)
        .sort(),
    )
    expect(feeds).toHaveLength(112)
    const others = catalogue.filter(({ id }) => !feeds.some((feed) => feed.id === id))
    expect(others.filter(({ tried }) => tried !== 'never')).toEqual([])
    const ours = feeds.flatMap((feed) => feed.files.map((file) => `${feed.id}/${file.path}`))
    const onDisk = feeds.flatMap(({ id }) =>
      readdirSync(join(feedsFolder, id)).map((name) => `${id}/${name}`),
    )
    expect([...ours, ...Object.keys(unreadFiles)].sort()).toEqual(onDisk.sort())
  })

  it.each(feeds.flatMap((feed) => feed.files.map((file) => [feed.id, file.path, file] as const)))(
    '%s/%s parses whole',
    async (feedId, name, file) => {
      const path = `${feedId}/${name}`
      const { tally, entries } = await read(feedId, file)
      const difference = differences.find((one) => one.matches.test(path))
      const rows = rowsByPath().get(path)
      expect(tally.entryCount).toBe(difference?.count(path) ?? rows)
      // A difference that no longer is one must leave the table.
      expect(tally.entryCount === rows).toBe(difference === undefined)
      expect(tally.bad).toEqual([])
      const stated = tally.stated === undefined ? undefined : formatDay(tally.stated)
      expect(stated).toBe(statedDays[path])
      expect(new Set(entries.map((entry) => entry.place)).size).toBe(entries.length)
    },
  )

  it('give Proton exits and no entry that is not an exit too', async () => {
    const used = textSet(await entriesOf('vpn-protonvpn', 'protonvpn_logicals.json'))
    const exits = textSet(await entriesOf('vpn-protonvpn', 'protonvpn_ips.txt'))
    expect([...used].sort()).toEqual([...exits].sort())
    const entry = textSet(await entriesOf('vpn-protonvpn', 'protonvpn_entry_ips.txt'))
    expect([...used].filter((one) => entry.has(one)).length).toBeLessThan(entry.size)
  })

  it('give of Windscribe what its list of addresses has', async () => {
    const used = textSet(await entriesOf('vpn-windscribe', 'windscribe_serverlist.json'))
    const plain = textSet(await entriesOf('vpn-windscribe', 'windscribe_ips.txt'))
    expect([...used].sort()).toEqual([...plain].sort())
  })

  it('give the same proxies from both forms of ProxMint and IPLocate', async () => {
    const used = textSet(await entriesOf('proxy-proxmint', 'all.json'))
    expect(textSet(await entriesOf('proxy-proxmint', 'all.txt'))).toEqual(used)
    const parts = ['http.txt', 'socks4.txt', 'socks5.txt']
    const lists = await Promise.all(parts.map((part) => entriesOf('proxy-iplocate', part)))
    const whole = textSet(await entriesOf('proxy-iplocate', 'all-proxies.txt'))
    expect(textSet(lists.flat())).toEqual(whole)
  })

  it('give where monosans proxies come out, not where they listen', async () => {
    const proxies = JSON.parse(text('proxy-monosans/proxies.json')) as { exit_ip: string }[]
    const used = await entriesOf('proxy-monosans', 'proxies.json')
    expect(used.map((entry) => entry.text)).toEqual(proxies.map((proxy) => proxy.exit_ip))
  })

  it('give every service of ipverse a provider, and no category to what anyone can send from', async () => {
    const entries = await entriesOf('bot-ipverse-crawlers', 'crawlers.json')
    expect(entries.filter((entry) => entry.provider === undefined)).toEqual([])
    const without = entries.filter((entry) => entry.category === undefined)
    expect(new Set(without.map((entry) => entry.provider))).toEqual(
      new Set(['Meta', 'Google user-triggered fetchers']),
    )
    expect(entries.find((entry) => entry.provider === 'GPTBot')?.category).toBe('ai_tool')
    expect(entries.find((entry) => entry.provider === 'Googlebot')?.category).toBe('search_crawler')
  })

  it('give IPsum its counts', async () => {
    const entries = await entriesOf('block-ipsum', 'ipsum.txt')
    const plain = text('block-ipsum/ipsum.txt').match(/^[\d.]+\t\d+$/gm) ?? []
    expect(entries.map((entry) => `${entry.text}\t${entry.lists ?? 0}`)).toEqual(plain)
  })
})
