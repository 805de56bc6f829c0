// The catalogue that ships: what must hold of every feed, and of the feeds that the score treats
// specially. Needs no feed file, so it holds wherever the project is cloned; the tests below that
// read the shared feeds check bounds and licences against them.

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { parseFile } from '../../../build/parse/parse-file.ts'
import { newParseCounts, countingSink } from '../../../build/parse/parse-counts.ts'
import { parseRange } from '../../../src/ip/range.ts'
import { describeFeeds, feedsFolder } from '../../feeds.ts'

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

describeFeeds('the catalogue against the shared feeds', () => {
  it('says what they say of licence and kind', () => {
    const written = JSON.parse(readFileSync(join(feedsFolder, 'feeds.json'), 'utf8')) as
      | { id: string; license: string; kind: string }[]
      | { feeds: { id: string; license: string; kind: string }[] }
    const kindOf = (kind: string): string =>
      ({ asn_meta: 'network', privacy_relay: 'relay' })[kind] ?? kind
    const said = ('feeds' in written ? written.feeds : written).map((one) => [
      one.id,
      one.license,
      kindOf(one.kind),
    ])
    const ours = feeds.map((one) => [one.id, one.licence, one.kind as string])
    expect(ours).toEqual(said.sort((one, two) => ((one[0] ?? '') < (two[0] ?? '') ? -1 : 1)))
  })

  it('has bounds with room on both sides of every real size', () => {
    const tight = feeds.flatMap((one) =>
      one.files.filter((file) => {
        const { size } = statSync(join(feedsFolder, one.id, file.path))
        return file.bytes.min > Math.max(7, size / 2) || file.bytes.max <= size * 2
      }),
    )
    expect(tight).toEqual([])
  })

  it('has a widest prefix that refuses no real entry', async () => {
    for (const one of feeds.filter((each) => each.kind !== 'network')) {
      for (const file of one.files.filter((each) => each.role === 'use')) {
        const wide: string[] = []
        const sink = countingSink(newParseCounts(file.path), ({ text, place }) => {
          const range = parseRange(text)
          if (range === undefined) return
          const bound = range.family === 4 ? 32 - one.widest.ipv4 : 128 - one.widest.ipv6
          if (range.last - range.first >= 1n << BigInt(bound)) wide.push(`${place} ${text}`)
        })
        await parseFile({ ...file, path: join(feedsFolder, one.id, file.path) }, sink)
        expect(wide).toEqual([])
      }
    }
  })
})
