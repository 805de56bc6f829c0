// Feeds that nobody has fetched yet: what their entry in the catalogue reads of a sample that is
// written here in the publisher's format. Every one of them has a sample, so that the first fetch
// can fail by the address alone. The addresses are those that are set aside for documentation.

import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import { parseText, textsOf } from '../parse/drive.ts'

const folder = fileURLToPath(new URL('../../../data/feeds', import.meta.url))
const untried = loadCatalogue(folder).filter(({ tried }) => tried === 'never')

interface Sample {
  readonly feeds: RegExp
  readonly text: string
  /** Texts of the entries, with the service that names each where the file has several. */
  readonly entries: readonly string[]
  readonly day?: string
}

const seconds = Date.UTC(2026, 10, 1, 3, 11) / 1000

const samples: readonly Sample[] = [
  {
    feeds: /^vpn-nordvpn$/,
    text: JSON.stringify([
      {
        id: 1,
        hostname: 'ex1.vpn.example',
        station: '192.0.2.1',
        ipv6_station: '',
        ips: [{ id: 2, ip: { id: 3, ip: '192.0.2.1', version: 4 } }],
        load: 9,
      },
      { id: 4, station: '192.0.2.9', ips: [{ ip: { ip: '2001:db8::9', version: 6 } }] },
    ]),
    entries: ['192.0.2.1', '192.0.2.1', '192.0.2.9', '2001:db8::9'],
  },
  {
    feeds: /^vpn-(?:cloudflare-warp|google)$/,
    text: '# RFC 8805\n192.0.2.1/32,EX,EX-1,Somewhere,\n2001:db8:1::/48,EX,,Elsewhere,\n198.51.100.0/24,EX,,,\n',
    entries: ['192.0.2.1/32', '2001:db8:1::/48', '198.51.100.0/24'],
  },
  {
    feeds: /^bot-amazonbot$/,
    text: JSON.stringify({
      amazonbot: {
        creationTime: '2026-11-20T10:00:05.123Z',
        prefixes: [{ ipv4Prefix: '192.0.2.1' }, { ip_prefix: '192.0.2.8/32' }],
      },
      searchbot: {
        creationTime: '2026-11-21T00:00:00Z',
        prefixes: [{ ipv6Prefix: '2001:db8::/64' }],
      },
      user: { creationTime: '2026-11-21T00:00:00Z', prefixes: [{ ipv4Prefix: '192.0.2.3' }] },
    }),
    entries: [
      '192.0.2.1 Amazonbot ai_tool',
      '192.0.2.8/32 Amazonbot ai_tool',
      '2001:db8::/64 Amzn-SearchBot search_crawler',
      // Neither crawler nor AI tool: the score ignores it.
      '192.0.2.3 Amzn-User',
    ],
    day: '2026-11-20',
  },
  {
    feeds: /^proxy-(?:proxifly|gfpcom)$/,
    text: 'http://192.0.2.1:8080\nsocks5://198.51.100.4:1080\nhttp://user:pass@203.0.113.5:80\n',
    entries: ['192.0.2.1', '198.51.100.4', '203.0.113.5'],
  },
  {
    feeds: /^block-spamhaus-drop$/,
    text:
      '{"cidr":"192.0.2.0/24","sblid":"SBL1","rir":"arin"}\n{"cidr":"2001:db8::/32","sblid":"SBL2"}\n' +
      `{"type":"metadata","timestamp":${seconds},"copyright":"(c)","terms":"https://example.org/"}\n`,
    entries: ['192.0.2.0/24', '2001:db8::/32'],
    day: '2026-11-01',
  },
  {
    feeds: /^block-spamhaus-asndrop$/,
    text: `{"asn":64496,"rir":"arin","domain":"example.org","cc":"US","asname":"EX"}\n{"type":"metadata","timestamp":${seconds}}\n`,
    entries: ['AS64496'],
    day: '2026-11-01',
  },
  {
    feeds: /^block-(?:et-compromised|stopforumspam)$/,
    text: '192.0.2.1\n2001:db8::1\n',
    entries: ['192.0.2.1', '2001:db8::1'],
  },
  {
    feeds: /^asn-ipverse-metadata$/,
    text: JSON.stringify([
      { asn: 64496, metadata: { handle: 'EX', category: 'hosting', networkRole: 'stub' } },
      { asn: 64497, metadata: { handle: 'EX2', category: null }, stats: null },
    ]),
    entries: ['AS64496', 'AS64497'],
  },
  {
    feeds: /^hosting-(?:exoscale|upcloud|cherryservers|clouvider)$/,
    text: JSON.stringify({
      asn: 64496,
      metadata: { handle: 'EX', category: 'hosting' },
      prefixes: { ipv4: ['192.0.2.0/24'], ipv6: ['2001:db8::/32'] },
    }),
    entries: ['192.0.2.0/24', '2001:db8::/32'],
  },
]

const sampleOf = ({ id }: Feed): Sample => {
  const own = samples.filter(({ feeds }) => feeds.test(id))
  if (own.length !== 1) throw new Error(`${id} has ${own.length} samples`)
  return own[0]!
}

describe.each(untried.map((feed) => [feed.id, feed] as const))('%s', (_id, feed) => {
  it('reads its publisher’s format, each of its files', async () => {
    const { text, entries, day } = sampleOf(feed)
    for (const { format, options = {} } of feed.files) {
      const said = await parseText(format, text, options)
      const several = said.entries.some(({ provider }) => provider !== undefined)
      const shown = said.entries.map(({ text, provider = '', category = '' }) =>
        `${text} ${provider} ${category}`.trim(),
      )
      expect(several ? shown : textsOf(said)).toEqual(entries)
      expect(said.drops).toEqual([])
      expect(said.days).toEqual(day === undefined ? [] : [day])
    }
  })

  it('says what must be known before it is trusted', () => {
    expect(feed.note).toBeDefined()
    for (const { bytes } of feed.files) expect(bytes.max).toBeGreaterThanOrEqual(bytes.min * 20)
  })
})

it('names the service of every VPN feed', () => {
  const silent = untried.filter(({ kind, provider }) => kind === 'vpn' && provider === '')
  expect(silent.map(({ id }) => id)).toEqual([])
})

it('has no sample of a feed that is not there', () => {
  const ids = untried.map(({ id }) => id)
  expect(samples.filter(({ feeds }) => !ids.some((id) => feeds.test(id)))).toEqual([])
})
