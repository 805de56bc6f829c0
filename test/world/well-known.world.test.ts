// Sixty addresses that an engineer knows, each with what must be said of it and the sentence why.
// Scores are bounds, for lists change from day to day; classes and types are not.

import { beforeAll, expect, it } from 'vitest'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import { describeFeeds } from '../feeds.ts'
import { worldTable } from './world-tables.ts'

/** Address, class, `network.type`, least and greatest score, and why. */
type Row = readonly [string, string, string, number, number, string]

const line = (whose: string): string =>
  `A subscriber’s line of ${whose}: nothing is known against it.`
const shared = (whose: string): string =>
  `An address of ${whose}, shared by many people: nothing is known against it.`
const campus = (whose: string): string =>
  `Students and staff of ${whose}: what AS lists call a campus does not count.`

const rows: readonly Row[] = [
  // Public resolvers: software asks them, nobody browses from them.
  ['8.8.8.8', 'clean', 'cdn', 0, 0, 'A resolver of Google, announced everywhere.'],
  ['8.8.4.4', 'clean', 'cdn', 0, 0, 'The same resolver.'],
  ['1.1.1.1', 'clean', 'cdn', 0, 0, 'A resolver of Cloudflare: as 8.8.8.8.'],
  ['1.0.0.1', 'clean', 'cdn', 0, 0, 'The same resolver.'],
  ['2001:4860:4860::8888', 'clean', 'cdn', 0, 0, 'The same over IPv6.'],
  ['2606:4700:4700::1111', 'clean', 'cdn', 0, 0, 'The same over IPv6.'],
  ['114.114.114.114', 'clean', 'cdn', 0, 0, 'The same role, although a hoster announces it.'],
  ['223.5.5.5', 'clean', 'cdn', 0, 0, 'The same role, in a cloud of its own operator.'],
  // Clouds and hosters.
  ['52.94.76.1', 'hosting', 'hosting', 40, 49, 'Amazon lists it as its cloud.'],
  ['34.64.0.1', 'hosting', 'hosting', 40, 49, 'Google lists it as its cloud.'],
  ['20.36.1.1', 'hosting', 'hosting', 40, 49, 'Microsoft lists it as its cloud.'],
  ['129.146.1.1', 'hosting', 'hosting', 40, 49, 'Oracle lists it as its cloud.'],
  ['104.236.1.1', 'hosting', 'hosting', 40, 49, 'DigitalOcean lists it.'],
  ['45.33.1.1', 'hosting', 'hosting', 40, 49, 'Linode lists it.'],
  ['45.76.1.1', 'hosting', 'hosting', 40, 49, 'Vultr announces it, and several voices agree.'],
  ['88.198.1.1', 'hosting', 'hosting', 40, 49, 'Hetzner announces it, and several voices agree.'],
  ['51.68.1.1', 'hosting', 'hosting', 40, 49, 'OVH announces it, and several voices agree.'],
  ['144.91.64.1', 'hosting', 'hosting', 40, 49, 'Contabo announces it, and several voices agree.'],
  ['2600:1f18::1', 'hosting', 'hosting', 40, 49, 'Amazon lists it as its cloud.'],
  // Edges.
  ['104.16.0.1', 'hosting', 'cdn', 40, 49, 'An edge of Cloudflare, by its own list.'],
  ['151.101.1.1', 'hosting', 'cdn', 40, 49, 'An edge of Fastly: the same role, the same answer.'],
  // People's lines of twenty-five countries.
  ['73.162.10.20', 'clean', 'isp', 0, 0, line('Comcast, United States')],
  ['70.48.1.1', 'clean', 'isp', 0, 0, line('Bell Canada')],
  ['86.128.1.1', 'clean', 'isp', 0, 0, line('BT, United Kingdom')],
  ['87.128.1.1', 'clean', 'isp', 0, 0, line('Deutsche Telekom')],
  ['90.0.1.1', 'clean', 'isp', 0, 0, line('Orange, France')],
  ['79.0.1.1', 'clean', 'isp', 0, 0, line('TIM, Italy')],
  ['83.32.1.1', 'clean', 'isp', 0, 0, line('Telefónica, Spain')],
  ['77.160.1.1', 'clean', 'isp', 0, 0, line('KPN, Netherlands')],
  ['78.64.1.1', 'clean', 'isp', 0, 0, line('Telia, Sweden')],
  ['83.0.1.1', 'clean', 'isp', 0, 0, line('Orange, Poland')],
  ['81.240.1.1', 'clean', 'isp', 0, 0, line('Proximus, Belgium')],
  ['83.76.1.1', 'clean', 'isp', 0, 0, line('Swisscom')],
  ['95.24.1.1', 'clean', 'isp', 0, 0, line('Beeline, Russia')],
  ['78.160.1.1', 'clean', 'isp', 0, 0, line('Türk Telekom')],
  ['79.176.1.1', 'clean', 'isp', 0, 0, line('Bezeq, Israel')],
  ['117.192.1.1', 'clean', 'isp', 0, 0, line('BSNL, India')],
  ['58.8.1.1', 'clean', 'isp', 0, 0, line('True, Thailand')],
  ['114.24.1.1', 'clean', 'isp', 0, 0, line('Chunghwa, Taiwan')],
  ['121.128.1.1', 'clean', 'isp', 0, 0, line('Korea Telecom')],
  ['126.0.1.1', 'clean', 'isp', 0, 0, line('SoftBank’s fixed lines, Japan')],
  ['101.160.1.1', 'clean', 'isp', 0, 0, line('Telstra, Australia')],
  ['177.32.1.1', 'clean', 'isp', 0, 0, line('Claro, Brazil')],
  ['190.160.1.1', 'clean', 'isp', 0, 0, line('VTR, Chile')],
  // Carriers and satellites.
  ['172.56.1.1', 'clean', 'mobile', 0, 0, shared('T-Mobile US')],
  ['174.192.1.1', 'clean', 'mobile', 0, 0, shared('Verizon Wireless')],
  ['2607:fb90::1', 'clean', 'mobile', 0, 0, shared('T-Mobile US')],
  ['49.32.1.1', 'clean', 'mobile', 0, 0, shared('Jio, India')],
  ['105.160.1.1', 'clean', 'mobile', 0, 0, shared('Safaricom, Kenya')],
  ['98.97.1.1', 'clean', 'satellite', 0, 0, 'Starlink: people on a shared address.'],
  // Universities.
  ['18.9.22.69', 'clean', 'education', 0, 0, campus('MIT')],
  ['171.64.1.1', 'clean', 'education', 0, 0, campus('Stanford')],
  ['129.67.1.1', 'clean', 'education', 0, 0, campus('Oxford')],
  ['129.132.1.1', 'clean', 'education', 0, 0, campus('ETH Zürich')],
  ['133.11.1.1', 'clean', 'education', 0, 0, campus('Tokyo')],
  // Exits.
  ['185.220.101.33', 'tor', 'hosting', 85, 100, 'The consensus names it as an exit.'],
  ['204.8.96.141', 'tor', 'isp', 85, 100, 'An exit on its operator’s own lines.'],
  ['198.44.137.19', 'vpn', 'hosting', 50, 100, 'An operator lists it as its exit.'],
  // Relays.
  ['172.226.0.80', 'clean', 'cdn', 0, 20, 'iCloud Private Relay: an ordinary person behind it.'],
  ['104.28.28.0', 'clean', 'cdn', 0, 20, 'iCloud Private Relay, although WARP is around it.'],
  // Bots.
  ['66.249.66.1', 'known_bot', 'cdn', 0, 10, 'Googlebot, by Google’s own list.'],
  ['157.55.39.1', 'known_bot', 'hosting', 0, 10, 'Bingbot, by Microsoft’s own list.'],
  ['17.241.75.5', 'known_bot', 'business', 0, 10, 'Applebot, by Apple’s own list.'],
  // Brands of VPNs, by the hand-kept table.
  ['185.213.154.1', 'vpn', 'hosting', 50, 100, 'In the AS that serves Mullvad and nothing else.'],
  ['5.180.61.1', 'vpn', 'hosting', 50, 100, 'In the AS that serves NordVPN and nothing else.'],
  ['2.57.170.1', 'vpn', 'hosting', 50, 100, 'In the AS that serves ExpressVPN and nothing else.'],
  ['104.28.5.1', 'vpn', 'cdn', 40, 49, 'Cloudflare WARP: people in their own country use it.'],
  // What is near, or no address of anybody.
  ['45.148.10.7', 'clean', 'hosting', 1, 24, 'Half of its /24 is on abuse lists, and it is not.'],
  ['100.64.0.1', 'bogon', '', 0, 0, 'Shared address space of carriers.'],
]

describeFeeds('well-known addresses', () => {
  let table: OpenTable

  beforeAll(async () => {
    table = openTable(await worldTable())
  })

  it('are sixty, each once', () => {
    expect(rows.length).toBeGreaterThanOrEqual(60)
    expect(new Set(rows.map(([address]) => address)).size).toBe(rows.length)
  })

  it.each(rows)('%s is %s: %s', (address, classification, type, least, greatest, _why) => {
    const answer: CheckAnswer = table.check(address)!
    expect(answer.classification).toBe(classification)
    expect(answer.network?.type ?? '').toBe(type)
    expect(answer.risk_score).toBeGreaterThanOrEqual(least)
    expect(answer.risk_score).toBeLessThanOrEqual(greatest)
    expect(classification === 'known_bot' && answer.proxy !== null).toBe(false)
  })

  it('resolvers get one answer, wherever they are announced', () => {
    const [first, ...rest] = rows.slice(0, 8).map(([address]) => {
      const { classification, risk_score, signals, proxy, bot, reasons, location } =
        table.check(address)!
      const { accuracy } = location!
      return { classification, risk_score, signals, proxy, bot, reasons, accuracy }
    })
    expect(first?.accuracy).toBe('country')
    expect(first?.reasons).toEqual(['anycast', 'cdn_edge'])
    for (const other of rest) expect(other).toEqual(first)
  })
})
