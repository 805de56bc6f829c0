// Every row of "Situations" in the specification that evidence and network decide. Rows that need
// an address (bogons, 6to4, IPv6 /64) are tested where addresses are.

import { describe, expect, it } from 'vitest'
import { riskLevelOf } from '../../src/model/risk-level.ts'
import type { Sample } from './evidence-sample.ts'
import {
  carrier,
  cdn,
  codesOf,
  home,
  hoster,
  judged,
  networkOf,
  signalsOf,
} from './evidence-sample.ts'

const torExit: Sample = { kind: 'tor', feed: 'tor-exits-onionoo', group: 'tor', weight: 0.98 }
const vpnX4b: Sample = { kind: 'vpn', feed: 'vpn-x4b', weight: 0.6, assurance: 'weak' }
const proton: Sample = { kind: 'vpn', feed: 'vpn-protonvpn', weight: 0.95, provider: 'ProtonVPN' }
const cloud: Sample = { kind: 'hosting', feed: 'hosting-aws', match: 'range', provider: 'AWS' }
const datacenters: Sample = {
  kind: 'hosting',
  feed: 'hosting-x4b-datacenter',
  match: 'range',
  weight: 0.7,
  assurance: 'weak',
}
const asTable: Sample = { kind: 'hosting', feed: 'table-hosting', match: 'as', assurance: 'good' }
const asX4b: Sample = {
  kind: 'hosting',
  feed: 'hosting-asn-x4b',
  match: 'as',
  weight: 0.6,
  assurance: 'weak',
}
const asTn3w: Sample = { ...asX4b, feed: 'hosting-asn-tn3w' }
const vpnAs: Sample = { kind: 'vpn', feed: 'asn-bgptools-tags', match: 'as', weight: 0.9 }
const ipsum: Sample = { kind: 'blocklist', feed: 'block-ipsum', weight: 0.9, assurance: 'good' }
const relay: Sample = { kind: 'relay', feed: 'relay-apple', match: 'range', provider: 'Apple' }
const publicProxy: Sample = { kind: 'proxy', feed: 'proxy-monosans' }
const avastel: Sample = {
  kind: 'residential_proxy',
  feed: 'resproxy-avastel',
  weight: 0.8,
  assurance: 'good',
}
const googlebot: Sample = {
  kind: 'bot',
  feed: 'bot-googlebot',
  match: 'range',
  provider: 'Googlebot',
}

describe('Tor', () => {
  it('an exit that is also in a VPN list and in a hosting AS is tor, at least 85', () => {
    const verdict = judged([torExit, vpnX4b, asTable], hoster)
    expect(verdict.classification).toBe('tor')
    expect(verdict.score).toBeGreaterThanOrEqual(85)
    expect(signalsOf(verdict)).toEqual(['vpn', 'tor', 'hosting'])
    expect(verdict.proxy).toMatchObject({ type: 'tor', confidence: 'high' })
  })

  it('a relay that is no exit is clean 0 on a home line and hosting at a hoster', () => {
    expect(judged([], home)).toMatchObject({ classification: 'clean', score: 0, reasons: [] })
    expect(judged([cloud], hoster).classification).toBe('hosting')
  })
})

describe('bots', () => {
  it('Googlebot on one abuse list is known_bot, high, at most 10, blocklist_match', () => {
    for (const more of [[], [cloud], [cloud, datacenters, asTable]]) {
      const verdict = judged([googlebot, ipsum, ...more], hoster)
      expect(verdict.classification).toBe('known_bot')
      expect(verdict.bot).toEqual({
        confidence: 'high',
        provider: 'Googlebot',
        category: 'search_crawler',
      })
      expect(verdict.score).toBeLessThanOrEqual(10)
      expect(verdict.signals.blocklist_match).toBe(true)
    }
  })

  it('a crawler that only a third party lists, on a cloud, is known_bot, medium', () => {
    const listed: Sample = { ...googlebot, weight: 0.6, assurance: 'weak', provider: 'CCBot' }
    const verdict = judged([listed, cloud], hoster)
    expect(verdict.classification).toBe('known_bot')
    expect(verdict.bot?.confidence).toBe('medium')
    expect(verdict.score).toBeLessThanOrEqual(10)
    expect(verdict.proxy?.type).toBe('data_center')
  })

  it('a network that is no crawler is no bot', () => {
    const meta: Sample = { ...googlebot, feed: 'bot-facebook', category: 'other' }
    expect(judged([meta], hoster)).toMatchObject({ classification: 'clean', score: 0 })
  })
})

describe('VPN', () => {
  it('a Proton exit in a hoster is vpn with its provider and the hosting signal', () => {
    const verdict = judged([proton, cloud, vpnX4b], hoster)
    expect(verdict.classification).toBe('vpn')
    expect(verdict.proxy).toMatchObject({ type: 'vpn', provider: 'ProtonVPN', confidence: 'high' })
    expect(verdict.signals.hosting).toBe(true)
  })

  it('the office of a VPN company is clean on a line of an ISP, hosting in its hosting AS', () => {
    const office = judged([vpnAs], home)
    expect(office).toMatchObject({ classification: 'clean', score: 0 })
    const hosted = judged([vpnAs, asX4b, asTn3w], hoster)
    expect(hosted.classification).toBe('hosting')
    expect(hosted.signals.vpn).toBe(false)
  })

  it('corporate egress in a VPN list keeps its signal and ends at 30', () => {
    const verdict = judged([vpnX4b, proton, cloud], networkOf({ corporate: true }))
    expect(verdict.signals).toMatchObject({ vpn: true, hosting: true })
    expect(verdict.score).toBe(30)
    expect(codesOf(verdict)).toContain('cap_corporate')
  })

  it('evidence 80 days old is clean, under 15, with a reason', () => {
    const verdict = judged([{ ...proton, age: 80 }], home)
    expect(verdict.classification).toBe('clean')
    expect(verdict.score).toBeLessThan(15)
    expect(codesOf(verdict)).toEqual(['vpn_trace', 'evidence_decayed'])
  })
})

describe('networks of people', () => {
  it('Starlink, a university and T-Mobile US are clean, whatever AS lists call them', () => {
    const satellite = networkOf({ type: 'satellite', access: true, shared: true })
    const campus = networkOf({ type: 'education', shared: true })
    for (const network of [satellite, campus, carrier]) {
      expect(judged([], network)).toMatchObject({ classification: 'clean', score: 0 })
      const lists = ['a', 'b', 'c', 'd', 'e'].map((feed) => ({ ...asX4b, feed }))
      expect(judged(lists, network).classification).toBe('clean')
    }
  })

  it('a residential exit on a mobile carrier is residential_proxy, at most 74, mobile', () => {
    const verdict = judged([{ ...avastel, weight: 1 }], carrier)
    expect(verdict.classification).toBe('residential_proxy')
    expect(verdict.score).toBe(74)
    expect(verdict.signals.mobile).toBe(true)
  })

  it('an open proxy on a home line, seen 1 day of 30, today, is proxy, about 36', () => {
    const verdict = judged([{ ...publicProxy, listed: 1 }], home)
    expect(verdict).toMatchObject({ classification: 'proxy', score: 36 })
    expect(verdict.proxy?.percentDaysSeen).toBe(3.33)
  })

  it('a residential proxy list and a public proxy list are residential_proxy, at least 80', () => {
    for (const days of [{}, { listed: 1, observed: 1 }]) {
      const verdict = judged(
        [
          { ...avastel, ...days },
          { ...publicProxy, ...days },
        ],
        home,
      )
      expect(verdict.classification).toBe('residential_proxy')
      expect(verdict.score).toBeGreaterThanOrEqual(80)
    }
  })

  it('a residential proxy 9 days ago, nothing since, is clean, under 15, with a reason', () => {
    const verdict = judged([{ ...avastel, age: 9 }], home)
    expect(verdict.classification).toBe('clean')
    expect(verdict.score).toBeLessThan(15)
    expect(codesOf(verdict)).toContain('residential_proxy_trace')
  })

  it('eight abuse lists on a home line are clean, 45, medium', () => {
    const verdict = judged([{ ...ipsum, lists: 8 }], home)
    expect(verdict).toMatchObject({ classification: 'clean', score: 45 })
    expect(riskLevelOf(verdict.score)).toBe('medium')
  })
})

describe('hosting', () => {
  it("a cloud's NAT used by a company's staff is hosting, 40, data_center", () => {
    const verdict = judged([cloud], hoster)
    expect(verdict).toMatchObject({ classification: 'hosting', score: 40 })
    expect(verdict.proxy).toMatchObject({ type: 'data_center', provider: 'AWS' })
  })

  it("a hoster's old /24, now announced by an ISP, is clean", () => {
    const derived: Sample = { ...cloud, feed: 'hosting-hetzner', asns: [24940] }
    expect(judged([derived], networkOf({ asn: 24940 })).classification).toBe('hosting')
    const moved = judged([derived], home)
    expect(moved).toMatchObject({ classification: 'clean', score: 0 })
    expect(codesOf(moved)).toEqual(['origin_changed'])
    expect(judged([derived], undefined).classification).toBe('clean')
  })

  it('the table or two AS lists make about 20 points, one list none', () => {
    expect(judged([asTable], hoster)).toMatchObject({ classification: 'hosting', score: 20 })
    const two = judged([asX4b, asTn3w], hoster)
    expect(two).toMatchObject({ classification: 'hosting', score: 20 })
    expect(two.proxy?.confidence).toBe('low')
    const one = judged([asX4b], hoster)
    expect(one).toMatchObject({ classification: 'clean', score: 0 })
    expect(codesOf(one)).toEqual(['hosting_unconfirmed'])
    const copies = judged([asX4b, { ...asTn3w, group: 'hosting-asn-x4b' }], hoster)
    expect(copies.classification).toBe('clean')
  })

  it('8.8.8.8 and 1.1.1.1 are hosting or clean, at most 40, with the reason of an edge', () => {
    const resolver = judged([cloud, vpnAs, asTable], cdn)
    expect(resolver).toMatchObject({ classification: 'hosting', score: 40, bot: undefined })
    expect(resolver.signals).toMatchObject({ proxy: false, vpn: false })
    expect(codesOf(resolver)).toContain('cdn_edge')
    const unlisted = judged([], cdn)
    expect(unlisted).toMatchObject({ classification: 'clean', score: 0 })
    expect(codesOf(unlisted)).toEqual(['cdn_edge'])
  })
})

describe('privacy relay', () => {
  it('on Cloudflare and an abuse list: clean, relay, proxy null, at most 20, match', () => {
    for (const lists of [1, 8]) {
      const verdict = judged([relay, cloud, asTable, vpnX4b, { ...ipsum, lists }], cdn)
      expect(verdict.classification).toBe('clean')
      expect(verdict.proxy).toBeUndefined()
      expect(verdict.score).toBeLessThanOrEqual(20)
      expect(signalsOf(verdict)).toEqual(['blocklist_match', 'relay'])
      expect(codesOf(verdict)).toContain('range_suppressed_by_relay')
    }
  })

  it('an exact Tor exit wins over it, and so does what was observed at the address', () => {
    const exit = judged([relay, torExit, cloud, vpnX4b], cdn)
    expect(exit.classification).toBe('tor')
    expect(exit.score).toBeGreaterThanOrEqual(85)
    expect(exit.signals.vpn).toBe(false)
    const tested = judged([relay, publicProxy, vpnX4b], cdn)
    expect(tested).toMatchObject({ classification: 'proxy', score: 80 })
    const heard = judged([relay, { ...publicProxy, assurance: 'good' }], cdn)
    expect(heard).toMatchObject({ classification: 'clean', score: 10 })
  })
})

describe('unannounced space', () => {
  it('is clean, 15, with its reason', () => {
    const verdict = judged([], undefined)
    expect(verdict).toMatchObject({
      classification: 'clean',
      score: 15,
      reasons: [{ code: 'unannounced', points: 15 }],
    })
  })
})
