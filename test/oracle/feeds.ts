// What each feed of the world table lists, read in the plainest way: JSON.parse and split. Written from the
// feeds' own descriptions (../shared/feeds/README.md, feeds.json), not from data/feeds: which file
// counts and what in it is evidence is part of what the oracle checks.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { feedsFolder } from '../feeds.ts'
import { overlaps, spanOf, textOf } from './address.ts'
import { asRows } from './world.ts'

const tablesFolder = fileURLToPath(new URL('../../data/tables', import.meta.url))

/** One listed address, prefix or range, as text. */
export interface Listed {
  readonly text: string
  /** How many lists name it, where the feed says so. */
  readonly lists?: number
  /** The operator, where the entry itself names it. */
  readonly provider?: string
}

export interface PlainFeed {
  readonly id: string
  readonly kind: string
  readonly entries: () => readonly Listed[]
}

function textIn(id: string, file: string): string {
  return readFileSync(join(feedsFolder, id, file), 'utf8')
}

/** Lines without comments and blanks. */
function linesIn(id: string, file: string): string[] {
  return textIn(id, file)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

const listed = (texts: readonly string[]): Listed[] => texts.map((text) => ({ text }))

/** A separator with an even number of quotes behind it: none that stands inside a quoted cell. */
const cellBorder = (separator: string): RegExp =>
  new RegExp(`${separator}(?=(?:[^"]*"[^"]*")*[^"]*$)`)

const lines =
  (...files: string[]) =>
  (id: string): Listed[] =>
    files.flatMap((file) => listed(linesIn(id, file)))

const json =
  (file: string, texts: (parsed: never) => readonly (string | undefined)[]) =>
  (id: string): Listed[] =>
    listed(texts(JSON.parse(textIn(id, file)) as never).filter((text) => text !== undefined))

const column =
  (file: string, read: (cells: readonly string[]) => Listed, separator = ',') =>
  (id: string): Listed[] =>
    linesIn(id, file).map((line) => {
      const cells = line.split(line.includes('"') ? cellBorder(separator) : separator)
      return read(cells.map((cell) => cell.trim().replaceAll('"', '')))
    })

type Prefixes = { prefixes: { ipv4Prefix?: string; ipv6Prefix?: string }[] }
const googleStyle = (file: string) =>
  json(file, ({ prefixes }: Prefixes) => prefixes.map((one) => one.ipv4Prefix ?? one.ipv6Prefix))

type Announced = { IPv4Prefixes: string[]; IPv6Prefixes?: string[] }
const announced = (file: string) =>
  json(file, (all: Announced) => [...all.IPv4Prefixes, ...(all.IPv6Prefixes ?? [])])

type Services = { services: Record<string, { ipv4?: string[]; ipv6?: string[] }> }
const ipverse = (file: string) =>
  json(file, ({ services }: Services) =>
    Object.values(services).flatMap((one) => [...(one.ipv4 ?? []), ...(one.ipv6 ?? [])]),
  )

const address = (cells: readonly string[]): Listed => ({ text: cells[0] ?? '' })
const withoutHeader = (read: (id: string) => Listed[]) => (id: string) => read(id).slice(1)
const both = lines('ipv4.txt', 'ipv6.txt')
/** `host:port`, with or without a scheme before it. */
const proxies =
  (...files: string[]) =>
  (id: string): Listed[] =>
    files
      .flatMap((file) => linesIn(id, file))
      .map((line) => ({ text: line.replace(/^.*:\/\//, '').split(':')[0]! }))

/** The first column of a hand-kept table. */
const tablePrefixes = (file: string) => (): Listed[] =>
  readFileSync(join(tablesFolder, file), 'utf8')
    .split('\n')
    .filter((line) => /^[\da-f]*[.:]/.test(line))
    .map((line) => ({ text: line.split(',')[0] ?? '' }))

/** What the owners of the VPN operators' table announce: rows of the AS file, cut to a prefix. */
const vpnOperators = (): Listed[] => {
  const announced = [...asRows(4), ...asRows(6)]
  return readFileSync(join(tablesFolder, 'vpn-operators.csv'), 'utf8')
    .split('\n')
    .filter((line) => /^(?:AS\d|[\da-f]+[.:])/.test(line))
    .flatMap((line) => {
      const [space = '', , provider = ''] = line.split(',')
      const span = space.startsWith('AS') ? undefined : spanOf(space)
      const own = announced.filter((row) =>
        span === undefined ? `AS${row.asn}` === space : overlaps(row, span),
      )
      return own.map(({ first, last }) => {
        const from = span !== undefined && span.first > first ? span.first : first
        const to = span !== undefined && span.last < last ? span.last : last
        return { text: `${textOf(from)}-${textOf(to)}`, provider }
      })
    })
}

type Aws = { prefixes: { ip_prefix: string }[]; ipv6_prefixes: { ipv6_prefix: string }[] }
type Azure = { values: { properties: { addressPrefixes: string[] } }[] }
type Oracle = { regions: { cidrs: { cidr: string }[] }[] }
type Fastly = { addresses: string[]; ipv6_addresses: string[] }
type Proton = { LogicalServers: { Servers: { ExitIP: string }[] }[] }
type Node = Record<'ip' | 'ip2' | 'ip3' | 'ip4' | 'ip5', string | undefined>
type Gluetun = { servers: { ips?: string[] }[] }
const gluetun = (file: string) =>
  json(file, ({ servers }: Gluetun) => servers.flatMap(({ ips }) => ips ?? []))

type Windscribe = { data: { groups?: { ping_ip?: string; nodes?: Node[] }[] }[] }

const readers: Readonly<Record<string, Readonly<Record<string, (id: string) => Listed[]>>>> = {
  tor: {
    'tor-exits-onionoo': withoutHeader(
      column('latest.exits.csv', (cells) => ({ text: cells[1] ?? '' })),
    ),
    'tor-exits-x4b': lines('ipv4.txt'),
    'table-tor-operators': tablePrefixes('tor-operators.csv'),
  },
  vpn: {
    'vpn-x4b': both,
    'table-vpn-operators': vpnOperators,
    'vpn-mullvad': lines('mullvadvpn.txt'),
    'vpn-pia': lines('pia.txt'),
    'vpn-protonvpn': json('protonvpn_logicals.json', ({ LogicalServers }: Proton) =>
      LogicalServers.flatMap(({ Servers }) => Servers.map(({ ExitIP }) => ExitIP)),
    ),
    'vpn-tunnelbear': lines('tunnelbear_ips.txt'),
    'vpn-windscribe': json('windscribe_serverlist.json', ({ data }: Windscribe) =>
      data
        .flatMap(({ groups }) => groups ?? [])
        .flatMap(({ ping_ip, nodes }) => [
          ping_ip,
          ...(nodes ?? []).flatMap(({ ip, ip2, ip3, ip4, ip5 }) => [ip, ip2, ip3, ip4, ip5]),
        ])
        .filter((text) => text !== ''),
    ),
    // The operator stands behind the address: `192.0.2.1 # name`.
    'vpn-az0': (id) => linesIn(id, 'ip.txt').map((line) => ({ text: line.split(' ')[0] ?? '' })),
    'vpn-vpngate': (id) =>
      linesIn(id, 'iphone.csv')
        .filter((line) => !line.startsWith('*'))
        .map((line) => ({ text: line.split(',')[1] ?? '' })),
    'vpn-openlists-airvpn': lines('airvpn.txt'),
    'vpn-openlists-ivpn': lines('ivpn.txt'),
    'vpn-openlists-mullvad': lines('mullvad.txt'),
    'vpn-openlists-nordvpn': lines('nordvpn.txt'),
    'vpn-openlists-ovpn': lines('ovpn.txt'),
    'vpn-openlists-riseupvpn': lines('riseupvpn.txt'),
    'vpn-openlists-surfshark': lines('surfshark.txt'),
    'vpn-gluetun-cyberghost': gluetun('cyberghost.json'),
    'vpn-gluetun-expressvpn': gluetun('expressvpn.json'),
    'vpn-gluetun-fastestvpn': gluetun('fastestvpn.json'),
    'vpn-gluetun-giganews': gluetun('giganews.json'),
    'vpn-gluetun-hidemyass': gluetun('hidemyass.json'),
    'vpn-gluetun-ipvanish': gluetun('ipvanish.json'),
    'vpn-gluetun-ivpn': gluetun('ivpn.json'),
    'vpn-gluetun-nordvpn': gluetun('nordvpn.json'),
    'vpn-gluetun-privado': gluetun('privado.json'),
    'vpn-gluetun-privatevpn': gluetun('privatevpn.json'),
    'vpn-gluetun-purevpn': gluetun('purevpn.json'),
    'vpn-gluetun-slickvpn': gluetun('slickvpn.json'),
    'vpn-gluetun-surfshark': gluetun('surfshark.json'),
    'vpn-gluetun-torguard': gluetun('torguard.json'),
    'vpn-gluetun-vpnsecure': gluetun('vpnsecure.json'),
    'vpn-gluetun-vpnunlimited': gluetun('vpn-unlimited.json'),
    'vpn-gluetun-vyprvpn': gluetun('vyprvpn.json'),
  },
  proxy: {
    'proxy-monosans': json('proxies.json', (all: { exit_ip: string }[]) =>
      all.map(({ exit_ip }) => exit_ip),
    ),
    'proxy-iplocate': proxies('all-proxies.txt'),
    'proxy-databay': proxies('http.txt', 'socks4.txt', 'socks5.txt'),
    'proxy-stormsia': proxies('http.txt', 'socks4.txt', 'socks5.txt'),
    'proxy-proxmint': json('all.json', ({ proxies }: { proxies: { ip: string }[] }) =>
      proxies.map(({ ip }) => ip),
    ),
  },
  residential_proxy: {
    'resproxy-avastel': withoutHeader(
      column('avastel-proxy-bot-ips-blocklist-8days.txt', address, ';'),
    ),
    'resproxy-avastel-1day': withoutHeader(column('avastel-proxy-bot-ips-1day.txt', address, ';')),
  },
  hosting: {
    'hosting-aws': json('ip-ranges.json', (all: Aws) => [
      ...all.prefixes.map((one) => one.ip_prefix),
      ...all.ipv6_prefixes.map((one) => one.ipv6_prefix),
    ]),
    'hosting-gcp': googleStyle('cloud.json'),
    'hosting-google': googleStyle('goog.json'),
    'hosting-azure': json('ServiceTags_Public.json', ({ values }: Azure) =>
      values.flatMap(({ properties }) => properties.addressPrefixes),
    ),
    'hosting-microsoft': lines('ipv4_merged.txt', 'ipv6_merged.txt'),
    'hosting-oracle': json('public_ip_ranges.json', ({ regions }: Oracle) =>
      regions.flatMap(({ cidrs }) => cidrs.map(({ cidr }) => cidr)),
    ),
    'hosting-cloudflare': lines('ips-v4.txt', 'ips-v6.txt'),
    'hosting-fastly': json('public-ip-list.json', (all: Fastly) => [
      ...all.addresses,
      ...all.ipv6_addresses,
    ]),
    'hosting-digitalocean': column('google.csv', address),
    'hosting-digitalocean-txt': both,
    'hosting-linode': column('geoip.linode.com.csv', address),
    'hosting-linode-json': json('linode.json', ({ records }: { records: { prefix: string }[] }) =>
      records.map(({ prefix }) => prefix),
    ),
    'hosting-vultr': announced('vultr.json'),
    'hosting-hetzner': announced('hetzner.json'),
    'hosting-ovh': announced('ovh.json'),
    'hosting-leaseweb': announced('leaseweb.json'),
    'hosting-contabo': announced('contabo.json'),
    'hosting-scaleway': announced('scaleway.json'),
    'hosting-m247': announced('m247.json'),
    'hosting-tencent': announced('tencent.json'),
    'hosting-alibaba': announced('alibaba.json'),
    'hosting-ibmcloud': announced('ibmcloud.json'),
    'hosting-flyio': announced('flyio.json'),
    'hosting-github': both,
    'hosting-x4b-datacenter': both,
    'hosting-ipcat': column('datacenters.csv', ([first, last, provider = '']) => ({
      text: `${first}-${last}`,
      provider,
    })),
    'hosting-hostinger': column('geofeed.csv', address),
    'hosting-stackit': column('geofeed.csv', address),
    'hosting-betterstack': lines('betterstack.txt'),
    'hosting-hetrixtools': lines('hetrixtools.txt'),
    'hosting-nodeping': column('nodeping.txt', (cells) => ({ text: cells[1] ?? '' }), ' '),
    'hosting-ohdear': lines('ohdear.txt'),
    'hosting-pingdom': both,
    'hosting-statuscake': lines('ipv4.txt'),
    'hosting-stripe': json('stripe.json', ({ webhooks }: { webhooks: string[] }) => webhooks),
    'hosting-updown': json('updown.json', (all: Record<string, { ip?: string; ip6?: string }>) =>
      Object.values(all).flatMap(({ ip, ip6 }) => [ip, ip6]),
    ),
    'table-hosting': tablePrefixes('hosting-prefixes.csv'),
    'hosting-jhassine': withoutHeader(
      column('datacenters.csv', ([cidr = '', , , provider = '']) => ({ text: cidr, provider })),
    ),
  },
  relay: { 'relay-apple': lines('ipv4.txt', 'ipv6_merged.txt') },
  bot: {
    'bot-googlebot': googleStyle('googlebot.json'),
    'bot-google-special': googleStyle('special-crawlers.json'),
    'bot-google-user-triggered': googleStyle('user-triggered-fetchers-google.json'),
    'bot-applebot': googleStyle('applebot.json'),
    'bot-bing': lines('ipv4.txt'),
    'bot-duckduckbot': lines('ipv4.txt'),
    'bot-duckassistbot': lines('ipv4.txt'),
    'bot-claudebot': googleStyle('bots.json'),
    'bot-openai': lines('ipv4.txt'),
    'bot-perplexity': lines('ipv4.txt'),
    'bot-facebook': both,
    'bot-telegram': both,
    'bot-ipverse-crawlers': ipverse('crawlers.json'),
    'bot-ipverse-monitoring': ipverse('monitoring.json'),
    'bot-gb-applebot': lines('applebot.ips'),
    'bot-gb-yandex': lines('yandex.ips'),
    'bot-gb-ahrefsbot': lines('ahrefsbot.ips'),
    'bot-gb-commoncrawlbot': lines('commoncrawlbot.ips'),
    'bot-gb-mojeekbot': lines('mojeekbot.ips'),
    'bot-gb-semrushbot': lines('semrushbot.ips'),
    'bot-gb-marginalia': lines('marginalia.ips'),
    'bot-gb-uptimerobot': lines('uptimerobot.ips'),
    'bot-gb-facebookbot': lines('facebookbot.ips'),
    'table-crawlers': tablePrefixes('crawlers.csv'),
  },
  blocklist: {
    'block-ipsum': (id) =>
      linesIn(id, 'ipsum.txt').map((line) => {
        const [text = '', lists = ''] = line.split('\t')
        return { text, lists: Number(lists) }
      }),
    'block-ddrimus': lines('blocklist.txt'),
    'block-threatfox': lines('ips.txt'),
  },
}

/** Feeds of addresses, and the hand-kept tables that speak like one. */
export const plainFeeds: readonly PlainFeed[] = Object.entries(readers).flatMap(([kind, feeds]) =>
  Object.entries(feeds).map(([id, read]) => ({ id, kind, entries: () => read(id) })),
)

/** Feeds of AS numbers that call each of them a hoster: id to its ASNs. */
export function hosterLists(): ReadonlyMap<string, ReadonlySet<number>> {
  const numbers = (texts: readonly string[]): ReadonlySet<number> =>
    new Set(texts.map((text) => Number(/^"?(?:AS)?(\d+)/.exec(text)?.[1])).filter((asn) => asn > 0))
  return new Map([
    ['hosting-asn-x4b', numbers(linesIn('hosting-asn-x4b', 'datacenter-ASN.txt'))],
    ['hosting-asn-badlist', numbers(linesIn('hosting-asn-badlist', 'bad-asn-list.csv'))],
    [
      'hosting-asn-tn3w',
      numbers(JSON.parse(textIn('hosting-asn-tn3w', 'datacenter_asns.json')) as string[]),
    ],
    ['asn-bgptools-tags', numbers(linesIn('asn-bgptools-tags', 'tags-vpsh.csv'))],
    ['asn-peeringdb-classes', numbers(linesIn('asn-peeringdb-classes', 'hosting.txt'))],
    ['table-hosting', numbers(readFileSync(join(tablesFolder, 'hosting.csv'), 'utf8').split('\n'))],
  ])
}
