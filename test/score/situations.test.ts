// Every row of "Situations" in the specification that evidence and network decide. Rows that need
// an address (bogons, 6to4, IPv6 /64) are tested where addresses are.

import { describe, expect, it } from 'vitest'
import { riskLevelOf } from '../../src/model/kind.ts'
import { inferredVpnId } from '../../src/score/weight/weigh-evidence.ts'
import {
  carrier,
  cdn,
  codesOf,
  home,
  hoster,
  judged,
  networkOf,
  type Sample,
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

  // As the build weighs it (build/evidence/builtin-feeds.ts).
  const operators: Sample = {
    kind: 'tor',
    feed: 'table-tor-operators',
    group: 'tor',
    match: 'range',
    assurance: 'good',
    provider: 'Zwiebelfreunde / Relayon',
  }

  it('an operator’s range is tor where a table has no consensus', () => {
    const verdict = judged([operators], hoster)
    expect(verdict).toMatchObject({ classification: 'tor', score: 77 })
    expect(verdict.proxy).toMatchObject({ type: 'tor', confidence: 'medium' })
    expect(verdict.proxy?.provider).toBe('Zwiebelfreunde / Relayon')
    expect(codesOf(verdict)).toEqual(['tor_operator_range'])
  })

  it('beside a fresh consensus an operator’s range gives points alone', () => {
    const beside = { ...operators, weight: 0.22 }
    const verdict = judged([beside], hoster)
    expect(verdict).toMatchObject({ classification: 'clean', score: 17, proxy: undefined })
    expect(signalsOf(verdict)).toEqual([])
    expect(verdict.reasons).toEqual([{ code: 'tor_operator_trace', points: 17 }])
    // The exits themselves are what they were.
    expect(judged([torExit, beside], hoster)).toMatchObject({ classification: 'tor', score: 83 })
    expect(codesOf(judged([torExit, beside], hoster))).toEqual(['tor_exit_listed'])
    // What has left the consensus loses the signal on the day on which it would elsewhere.
    for (const age of [1, 2, 3, 9]) {
      const left = { ...torExit, weight: 1, age }
      const { signals } = judged([left, beside], hoster)
      expect(signals.tor).toBe(judged([left], hoster).signals.tor)
    }
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

  it('a verified bot stays at most 10, however many lists one feed counts', () => {
    const counted = judged([googlebot, { ...ipsum, lists: 5 }, cloud], hoster)
    expect(counted).toMatchObject({ classification: 'known_bot', score: 10 })
    expect(codesOf(counted)).toEqual(expect.arrayContaining(['blocklist_5', 'cap_bot']))
    const three = ['a', 'b', 'c'].map((feed) => ({ ...ipsum, feed }))
    expect(judged([googlebot, ...three, cloud], hoster).score).toBeGreaterThan(50)
    // Of one that a third party lists the lists that a feed counts are enough.
    const listed: Sample = { ...googlebot, weight: 0.6, assurance: 'weak' }
    expect(judged([listed, { ...ipsum, lists: 3 }, cloud], hoster).score).toBeGreaterThan(50)
  })

  it('a crawler that only a third party lists, on a cloud, is known_bot, medium', () => {
    const listed: Sample = { ...googlebot, weight: 0.6, assurance: 'weak', provider: 'CCBot' }
    const verdict = judged([listed, cloud], hoster)
    expect(verdict.classification).toBe('known_bot')
    expect(verdict.bot?.confidence).toBe('medium')
    expect(verdict.score).toBeLessThanOrEqual(10)
    expect(verdict.proxy?.type).toBe('data_center')
  })

  it("Bingbot's operator is Microsoft, and a crawler that a third party lists has none", () => {
    const azure: Sample = { kind: 'hosting', match: 'range', provider: 'Microsoft Azure' }
    const bingbot: Sample = { ...googlebot, feed: 'bot-bingbot', provider: 'Bingbot' }
    const isHosting = (bot: Sample): boolean => judged([bot, azure], home).signals.hosting
    expect(isHosting(bingbot)).toBe(false)
    expect(isHosting({ ...bingbot, provider: 'DuckDuckBot' })).toBe(true)
    expect(isHosting({ ...bingbot, assurance: 'good' })).toBe(true)
  })

  it('a verified bot has no proxy and is not hosted by its own operator', () => {
    const google: Sample = { ...cloud, feed: 'hosting-google', provider: 'Google' }
    const inGoogle = networkOf({ type: 'cdn', organization: 'Google LLC' })
    for (const network of [hoster, inGoogle]) {
      const verdict = judged([googlebot, google, ...(network === hoster ? [] : [asTable])], network)
      expect(verdict).toMatchObject({ classification: 'known_bot', score: 5, proxy: undefined })
      expect(signalsOf(verdict)).toEqual([])
      expect(codesOf(verdict)).toContain('bot_own_network')
    }
    const duck: Sample = { ...googlebot, feed: 'bot-duckduckbot', provider: 'DuckDuckBot' }
    const hosted = judged([duck, { ...cloud, provider: 'Microsoft Azure' }], hoster)
    expect(hosted).toMatchObject({ classification: 'known_bot', proxy: undefined })
    expect(signalsOf(hosted)).toEqual(['hosting'])
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

  it('an exit that its operator names is vpn, also where a residential list names it', () => {
    const both = judged([proton, { ...avastel, age: 1 }], home)
    expect(both).toMatchObject({ classification: 'vpn', score: 72 })
    expect(both.proxy).toMatchObject({ type: 'vpn', provider: 'ProtonVPN' })
    expect(signalsOf(both)).toEqual(['vpn', 'residential_proxy'])
    expect(codesOf(both)).toContain('conflict_resolved')
    // Of ranges an operator says only that exits are inside.
    const range = judged([{ ...proton, match: 'range' }, avastel], home)
    expect(range.classification).toBe('residential_proxy')
  })

  it('residential proxy and VPN by third parties, both recent and solid, are mixed', () => {
    const vpns = ['a', 'b'].map((feed): Sample => ({ ...vpnX4b, feed }))
    const verdict = judged([...vpns, avastel], home)
    expect(verdict).toMatchObject({ classification: 'mixed', score: 80 })
    expect(verdict.proxy?.type).toBe('residential')
    const stale = vpns.map((one) => ({ ...one, age: 8 }))
    expect(judged([...stale, avastel], home).classification).toBe('residential_proxy')
    expect(judged([...vpns, avastel, proton], home).classification).toBe('vpn')
  })

  it('a server of a VPN brand’s own AS that no list names is vpn, medium, provider named', () => {
    const brand: Sample = {
      ...proton,
      feed: 'table-vpn-operators',
      match: 'range',
      assurance: 'good',
      weight: 1,
      provider: 'NordVPN',
    }
    const verdict = judged([brand], hoster)
    expect(verdict).toMatchObject({ classification: 'vpn', score: 54 })
    expect(verdict.proxy).toMatchObject({ confidence: 'medium', provider: 'NordVPN' })
  })

  it('a hoster’s address beside a VPN’s servers is hosting, at least 25, with the reason', () => {
    const near: Sample = { ...proton, feed: 'near-vpn', match: 'near', assurance: 'good' }
    const verdict = judged([near, asTable], hoster)
    expect(verdict).toMatchObject({ classification: 'hosting', score: 30 })
    expect(verdict.reasons).toContainEqual({ code: 'vpn_neighbourhood', points: 5 })
    expect(signalsOf(verdict)).toEqual(['hosting'])
    expect(judged([near], home)).toMatchObject({ classification: 'clean', score: 0 })
    // What names the address itself says more.
    expect(codesOf(judged([near, proton], hoster))).toEqual(['vpn_listed'])
  })

  it('a hoster’s address among VPN servers is vpn by inference, low, at least 50, unnamed', () => {
    const among: Sample = {
      kind: 'vpn',
      feed: inferredVpnId,
      match: 'near',
      weight: 0.5,
      listed: 3,
    }
    const verdict = judged([among, asTable], hoster)
    expect(verdict).toMatchObject({ classification: 'vpn', score: 50 })
    expect(verdict.proxy).toMatchObject({
      type: 'vpn',
      confidence: 'low',
      provider: '',
      percentDaysSeen: 10,
    })
    expect(codesOf(verdict)).toEqual(expect.arrayContaining(['vpn_inferred', 'floor_vpn_inferred']))
    for (const network of [home, cdn, carrier, undefined]) {
      expect(judged([among], network).classification).toBe('clean')
    }
    // Where an access network rents servers, its ranges are in the table of hosters.
    const rented: Sample = { ...asTable, match: 'range' }
    expect(judged([among, rented], home)).toMatchObject({ classification: 'vpn', score: 50 })
    expect(judged([among, googlebot], hoster).classification).toBe('known_bot')
    expect(judged([among, relay], hoster)).toMatchObject({ classification: 'clean', score: 10 })
    // A proxy that a list names is told before a VPN that none does.
    expect(judged([among, publicProxy], hoster)).toMatchObject({
      classification: 'proxy',
      proxy: { type: 'proxy' },
      signals: { vpn: true, proxy: true },
    })
    // The operator's own word is stronger.
    const listed = judged([among, proton], hoster)
    expect(listed.proxy).toMatchObject({ confidence: 'high', provider: 'ProtonVPN' })
  })

  it('Cloudflare WARP is vpn, named, at most 49, unless more than a VPN speaks', () => {
    const warp: Sample = { ...proton, consumer: true, match: 'range', provider: 'Cloudflare WARP' }
    const verdict = judged([warp, cloud], hoster)
    expect(verdict).toMatchObject({ classification: 'vpn', score: 49 })
    expect(verdict.proxy?.provider).toBe('Cloudflare WARP')
    expect(codesOf(verdict)).toContain('consumer_vpn')
    expect(judged([{ ...warp, weight: 0.5 }], hoster).reasons).toContainEqual({
      code: 'consumer_vpn',
      points: 0,
    })
    expect(judged([warp, { ...ipsum, lists: 2 }], hoster).score).toBe(49)
    // By a list of many VPNs, which names it.
    const { consumer: _, ...byName } = warp
    expect(judged([byName, cloud], hoster).score).toBe(49)
    for (const more of [torExit, publicProxy, { ...ipsum, lists: 3 }]) {
      const accused = judged([warp, more], hoster)
      expect(accused.score).toBeGreaterThan(49)
      expect(codesOf(accused)).not.toContain('consumer_vpn')
    }
  })

  it('a third party’s evidence 80 days old is clean, under 15, with a reason', () => {
    const verdict = judged([{ ...vpnX4b, weight: 0.95, age: 80 }], home)
    expect(verdict.classification).toBe('clean')
    expect(verdict.score).toBeLessThan(15)
    expect(codesOf(verdict)).toEqual(['vpn_trace', 'evidence_decayed'])
  })

  it('a server that its operator’s own list named 80 days ago is vpn, and the operator named', () => {
    const halfLives = { lines: 682, shared: 682, elsewhere: 682 }
    const verdict = judged([{ ...proton, age: 80, halfLives }], hoster)
    expect(verdict.classification).toBe('vpn')
    expect(verdict.proxy?.provider).toBe('ProtonVPN')
  })
})

describe('networks of people', () => {
  it('a third party’s range stays below 50 alone, but not where servers are rented', () => {
    const range: Sample = { kind: 'vpn', feed: 'x4b', match: 'range', assurance: 'weak' }
    const verdict = judged([range], home)
    expect(verdict).toMatchObject({ classification: 'vpn', score: 49 })
    expect(codesOf(verdict)).toEqual(['vpn_listed', 'cap_lone_range'])
    const rented: Sample = { ...asTable, match: 'range' }
    for (const second of [
      rented,
      { ...range, feed: 'az0' },
      { ...range, match: 'exact' } as const,
    ]) {
      expect(judged([range, second], home).score).toBeGreaterThanOrEqual(54)
    }
    expect(judged([range], networkOf({ type: 'isp' })).score).toBe(49)
    expect(judged([range], hoster).score).toBe(54)
  })

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

  it('an open proxy on a home line, seen 1 day of 30, today, is proxy: tested 60, listed 36', () => {
    const tested = judged([{ ...publicProxy, listed: 1, weight: 0.93 }], home)
    expect(tested.classification).toBe('proxy')
    expect(tested.score).toBeGreaterThanOrEqual(60)
    expect(tested.proxy?.percentDaysSeen).toBe(3.33)
    expect(codesOf(tested)).toEqual(['proxy_listed'])
    const listed = judged([{ ...publicProxy, assurance: 'good', listed: 1 }], home)
    expect(listed).toMatchObject({ classification: 'proxy', score: 36 })
    expect(codesOf(listed)).toEqual(['proxy_listed', 'rarely_seen'])
  })

  it('beside tested proxies a line has points and no signal; a shared one has none', () => {
    const near: Sample = { ...publicProxy, feed: 'near-proxy', match: 'near' }
    const verdict = judged([near], home)
    expect(verdict).toMatchObject({ classification: 'clean', score: 8, proxy: undefined })
    expect(verdict.reasons).toEqual([{ code: 'proxy_neighbourhood', points: 8 }])
    expect(judged([near], carrier).score).toBe(0)
    expect(judged([{ ...near, age: 61 }], home).score).toBe(0)
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

  it('a residential proxy 9 days ago, nothing since, stays one on a fixed line alone', () => {
    const verdict = judged([{ ...avastel, age: 9 }], home)
    expect(verdict.classification).toBe('residential_proxy')
    expect(verdict.score).toBeGreaterThanOrEqual(25)
    expect(verdict.score).toBeLessThanOrEqual(60)
    const satellite = networkOf({ type: 'satellite', access: true, shared: true })
    for (const network of [carrier, satellite]) {
      const shared = judged([{ ...avastel, age: 9 }], network)
      expect(shared.classification).toBe('clean')
      expect(shared.score).toBeLessThan(15)
      expect(codesOf(shared)).toContain('residential_proxy_trace')
    }
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

  it('the table or two AS lists make 25 points, one list a few', () => {
    expect(judged([asTable], hoster)).toMatchObject({ classification: 'hosting', score: 25 })
    const two = judged([asX4b, asTn3w], hoster)
    expect(two).toMatchObject({ classification: 'hosting', score: 25 })
    expect(two.proxy?.confidence).toBe('low')
    const one = judged([asX4b], hoster)
    expect(one).toMatchObject({ classification: 'clean', score: 6 })
    expect(one.reasons).toEqual([{ code: 'hosting_unconfirmed', points: 6 }])
    const copies = judged([asX4b, { ...asTn3w, group: 'hosting-asn-x4b' }], hoster)
    expect(copies).toMatchObject({ classification: 'clean', score: 6 })
  })

  it('has the provider that the network names where its lists of ranges name none', () => {
    const named: Sample = { ...asTable, provider: 'Example Hosting' }
    expect(judged([datacenters, named], hoster).proxy?.provider).toBe('Example Hosting')
    expect(judged([cloud, named], hoster).proxy?.provider).toBe('AWS')
  })

  it('voices add up, listed or of the network, and three of them are 40', () => {
    const listed = judged([datacenters], hoster)
    expect(listed).toMatchObject({ classification: 'hosting', score: 25 })
    const both = judged([datacenters, asX4b], hoster)
    expect(both).toMatchObject({ classification: 'hosting', score: 30 })
    expect(both.proxy?.confidence).toBe('low')
    const three = judged([datacenters, asX4b, asTn3w], hoster)
    expect(three).toMatchObject({ classification: 'hosting', score: 40 })
    expect(codesOf(three)).toEqual(['hosting_listed', 'floor_hosting'])
    const inferred = judged([asX4b, asTn3w, asTable], hoster)
    expect(inferred).toMatchObject({ classification: 'hosting', score: 40 })
    expect(codesOf(inferred)).toEqual(['hosting_inferred', 'floor_hosting'])
    expect(inferred.proxy?.confidence).toBe('low')
    // Four agreeing voices are worth what one cloud says of itself.
    expect(judged([cloud], hoster).score).toBe(40)
  })

  it('8.8.8.8 and 1.1.1.1 get the same answer, whoever lists their networks', () => {
    const resolver = networkOf({ type: 'cdn', cdn: true, anycast: true })
    for (const listed of [[], [cloud, vpnAs, asTable], [asX4b]]) {
      const verdict = judged(listed, resolver)
      expect(verdict).toMatchObject({ classification: 'clean', score: 0, bot: undefined })
      expect(signalsOf(verdict)).toEqual([])
      expect(codesOf(verdict)).toEqual(['anycast', 'cdn_edge'])
    }
    // Announced by a carrier, as OpenDNS's and Level 3's are.
    const carrier = judged([cloud, vpnAs, asX4b], networkOf({ type: 'isp', anycast: true }))
    expect(carrier).toMatchObject({ classification: 'clean', score: 0 })
    expect(codesOf(carrier)).toEqual(['anycast'])
  })

  it('edges of content delivery networks get the same answer', () => {
    const edges = ['Cloudflare', 'Fastly'].map((provider) =>
      judged([{ ...cloud, feed: `hosting-${provider.toLowerCase()}`, provider }], cdn),
    )
    for (const edge of edges) {
      expect(edge).toMatchObject({ classification: 'hosting', score: 40, bot: undefined })
      expect(edge.signals).toMatchObject({ proxy: false, vpn: false })
      expect(codesOf(edge)).toEqual(['hosting_listed', 'anycast', 'cdn_edge'])
    }
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
