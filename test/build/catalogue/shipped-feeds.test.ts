// The catalogue that ships: what must hold of every feed, and of the feeds that the score treats
// specially. Needs no feed file, so it holds wherever the project is cloned.

import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import type { Feed } from '../../../build/catalogue/feed.ts'

const feeds = loadCatalogue(fileURLToPath(new URL('../../../data/feeds', import.meta.url)))

function feed(id: string): Feed {
  const found = feeds.find((one) => one.id === id)
  if (found === undefined) throw new Error(`${id} is not in the catalogue`)
  return found
}

const groupOf = (...ids: readonly string[]): readonly string[] => [
  ...new Set(ids.map((id) => feed(id).group)),
]

describe('the catalogue', () => {
  it('holds 72 feeds, and those without a stated licence are off', () => {
    expect(feeds).toHaveLength(72)
    const off = feeds.filter((one) => !one.enabled)
    expect(off.map((one) => one.id)).toEqual(
      feeds.filter((one) => one.licence === 'unstated').map((one) => one.id),
    )
    expect(off).toHaveLength(14)
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
    expect(derived).toHaveLength(11)
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
    const byHead = /^https:\/\/raw\.githubusercontent\.com\/[^/]+\/[^/]+\/HEAD\//
    expect(raw.filter((url) => !byHead.test(url))).toEqual([])
  })

  it('takes no wide prefix from a list of single addresses', () => {
    const narrow = ['tor', 'vpn', 'proxy', 'residential_proxy', 'blocklist']
    const tooWide = feeds.filter(({ kind, widest }) => {
      const [ipv4, ipv6] = narrow.includes(kind) ? [14, 28] : [8, 16]
      return widest.ipv4 < ipv4 || widest.ipv6 < ipv6
    })
    expect(tooWide.map((one) => one.id)).toEqual([])
  })
})
