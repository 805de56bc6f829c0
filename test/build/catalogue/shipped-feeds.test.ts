// The catalogue that ships: what must hold of every feed, and of the feeds that the score treats
// specially. Needs no feed file, so it holds wherever the project is cloned.

import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadCatalogue, loadWholeCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import { embeddedEdition } from '../../../build/evidence/data-edition.ts'
import { type Feed, dataSetKinds, isDataSet, isFeed } from '../../../build/catalogue/feed.ts'
import { chooseFeeds } from '../../../build/run-build.ts'

const folder = fileURLToPath(new URL('../../../data/feeds', import.meta.url))
const feeds = loadCatalogue(folder)

function feed(id: string): Feed {
  const found = feeds.find((one) => one.id === id)
  if (found === undefined) throw new Error(`${id} is not in the catalogue`)
  return found
}

const groupOf = (...ids: readonly string[]): readonly string[] => [
  ...new Set(ids.map((id) => feed(id).group)),
]

describe('the catalogue', () => {
  it('holds 127 feeds, and those without a stated licence are off', () => {
    expect(feeds).toHaveLength(127)
    const off = feeds.filter((one) => !one.enabled)
    const unstated = feeds.filter((one) => one.licence === 'unstated')
    expect(unstated).toHaveLength(19)
    // Off for other reasons: its licence, its age, and candidates that nobody tested.
    expect(off.filter((one) => !unstated.includes(one)).map((one) => one.id)).toEqual([
      'block-stopforumspam',
      'hosting-asn-tn3w',
      'proxy-gfpcom',
    ])
    expect(off).toHaveLength(22)
  })

  it('is used without feeds under other licences than those named, whatever switched them on', () => {
    const licences = ['mit', 'CC0-1.0']
    const used = chooseFeeds(loadWholeCatalogue(folder), {
      allFeeds: false,
      feeds: { 'vpn-az0': true },
      licences,
    })
    expect(new Set(used.filter(isFeed).map(({ licence }) => licence))).toEqual(
      new Set(['MIT', 'CC0-1.0']),
    )
    // No table is without networks and places.
    expect(used.filter(isDataSet)).toHaveLength(2)
  })

  it('gives what nobody has fetched no more weight than the lightest of its kind that is on', () => {
    const untried = feeds.filter(({ tried }) => tried === 'never')
    expect(untried).toHaveLength(15)
    const tooHeavy = untried.filter(({ kind, weight }) => {
      const others = feeds.filter(
        (one) => one.kind === kind && one.tried !== 'never' && one.weight > 0 && one.enabled,
      )
      return weight > Math.min(...others.map((one) => one.weight))
    })
    expect(tooHeavy.map(({ id }) => id)).toEqual([])
    // Nor does it say what they hold: that is written down from the first real file.
    expect(untried.filter((one) => one.usual_entries !== undefined)).toEqual([])
  })

  it('makes one voice of all who gather the operators’ lists of servers', () => {
    const own = /^vpn-(?:gluetun-.*|nordvpn|az0|openlists-(?!mullvad).*)$/
    const lists = feeds.filter(({ id }) => own.test(id))
    expect(lists).toHaveLength(25)
    expect(feed('vpn-openlists-mullvad').group).toBe(feed('vpn-mullvad').group)
    expect(groupOf(...lists.map(({ id }) => id))).toEqual(['vpn-server-lists'])
  })

  it('says of AirVPN’s entrances that its exits stand beside them', () => {
    const lists = feeds.filter(({ id }) => id.includes('airvpn'))
    expect(lists.map(({ id }) => id)).toEqual(['vpn-openlists-airvpn'])
    expect(lists[0]?.note).toMatch(/entrances.*neighbour of the exit/)
  })

  it('says of every feed when a file of it was read, and what it held', () => {
    const silent = feeds.filter(({ tried }) => tried === undefined)
    expect(silent.map(({ id }) => id)).toEqual([])
    const unmeasured = feeds.filter(
      (one) => one.tried !== 'never' && one.usual_entries === undefined,
    )
    expect(unmeasured.map(({ id }) => id)).toEqual([])
  })

  it('holds the two data sets apart from them, behind them all, and says that none was tried', () => {
    const all = loadWholeCatalogue(folder)
    expect(all.slice(0, feeds.length)).toEqual(feeds)
    const sets = all.filter(isDataSet)
    expect(all.slice(feeds.length)).toEqual(sets)
    expect(sets.map(({ id, kind, weight, tried }) => [id, kind, weight, tried])).toEqual([
      ['networks-asn', 'networks', 0, 'never'],
      ['places-dbip-city', 'places', 0, 'never'],
    ])
  })

  it('fetches data sets from where their publisher still releases them', () => {
    const urls = loadWholeCatalogue(folder)
      .filter(isDataSet)
      .flatMap(({ files }) => files.map(({ url }) => url))
    expect(urls.filter((url) => /npm|unpkg/.test(url))).toEqual([])
    expect(urls).toContain(
      'https://github.com/sapics/ip-location-db/releases/download/latest/origin-asn-ipv4.csv',
    )
  })

  it.each(dataSetKinds)('bounds the files of %s with room around those embedded', (kind) => {
    const set = loadWholeCatalogue(folder).find((one) => one.kind === kind)
    for (const path of embeddedEdition(kind)?.files ?? []) {
      const { bytes } = set?.files.find((file) => file.path === basename(path)) ?? {}
      const { size } = statSync(path)
      expect(bytes?.min).toBeLessThan(size / 2)
      expect(bytes?.max).toBeGreaterThan(size * 2)
    }
  })

  it('gives bots, and only bots, a category', () => {
    const withCategory = feeds.filter((one) => one.category !== undefined)
    expect(withCategory).toEqual(feeds.filter((one) => one.kind === 'bot'))
  })

  it('never reads where customers connect to', () => {
    const entry = feeds.flatMap((one) => one.files).filter((file) => file.path.includes('entry'))
    expect(entry.map((file) => file.role)).toEqual(['entry', 'entry'])
  })

  it('makes one voice of feeds that republish each other', () => {
    expect(groupOf('tor-exits-onionoo', 'tor-exits-x4b')).toHaveLength(1)
    expect(groupOf('vpn-x4b', 'vpn-mullvad', 'vpn-pia', 'vpn-protonvpn')).toHaveLength(1)
    expect(groupOf('resproxy-avastel', 'resproxy-avastel-1day')).toHaveLength(1)
    expect(
      groupOf(
        'hosting-asn-x4b',
        'hosting-asn-badlist',
        'hosting-asn-tn3w',
        'hosting-x4b-datacenter',
      ),
    ).toHaveLength(1)
    expect(groupOf('hosting-ipcat', 'hosting-jhassine')).toHaveLength(1)
    expect(groupOf('hosting-azure', 'hosting-microsoft', 'hosting-github')).toHaveLength(1)
    expect(groupOf(...feeds.filter((one) => one.kind === 'bot').map((one) => one.id))).toHaveLength(
      1,
    )
    const apart = ['proxy-monosans', 'proxy-iplocate', 'proxy-proxmint', 'block-ipsum', 'vpn-x4b']
    expect(groupOf(...apart)).toHaveLength(apart.length)
  })

  it('never mixes kinds that the score compares in one group', () => {
    const kindsByGroup = new Map<string, Set<string>>()
    for (const one of feeds) {
      kindsByGroup.set(one.group, (kindsByGroup.get(one.group) ?? new Set()).add(one.kind))
    }
    expect([...kindsByGroup].filter(([, kinds]) => kinds.size > 1)).toEqual([])
  })

  it('names the origin ASNs of every hoster whose ranges are announcements', () => {
    const derived = feeds.filter((one) => one.note?.includes('announcements of its ASes') === true)
    expect(derived).toHaveLength(15)
    expect(feeds.filter((one) => one.asns.length > 0)).toEqual(derived)
    expect(feeds.filter((one) => new Set(one.asns).size < one.asns.length)).toEqual([])
    expect(feed('hosting-hetzner').asns).toContain(24_940)
    expect(feed('hosting-ovh').asns).toContain(16_276)
    expect(feed('hosting-vultr').asns).toContain(20_473)
  })

  it('fetches raw files of repositories by HEAD, never by a branch that may be renamed', () => {
    const raw = feeds
      .flatMap((one) => one.files.map((file) => file.url))
      .filter((url) => url.startsWith('https://raw.githubusercontent.com/'))
    expect(raw.length).toBeGreaterThan(70)
    // A wiki has no branch to name.
    const byHead = /^https:\/\/raw\.githubusercontent\.com\/(?:wiki\/|[^/]+\/[^/]+\/HEAD\/)/
    expect(raw.filter((url) => !byHead.test(url))).toEqual([])
  })

  it('takes no wide prefix from a list of single addresses', () => {
    // Spamhaus lists netblocks and ASes, never single addresses.
    const narrow = ['tor', 'vpn', 'proxy', 'residential_proxy', 'blocklist']
    const lists = feeds.filter(({ group }) => group !== 'spamhaus-drop')
    const tooWide = lists.filter(({ kind, widest }) => {
      const [ipv4, ipv6] = narrow.includes(kind) ? [14, 28] : [8, 16]
      return widest.ipv4 < ipv4 || widest.ipv6 < ipv6
    })
    expect(tooWide.map((one) => one.id)).toEqual([])
  })
})
