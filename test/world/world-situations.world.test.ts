// The situations of test/score/situations.test.ts that need no history, on real addresses: searched
// for in the raw feeds at run time (by the oracle's plain pass), then asked of a table of the whole
// world. What a network is (access, mobile, corporate) is the table's own word: that is a
// judgement, no input.

import { beforeAll, expect, it } from 'vitest'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import type { Network } from '../../src/model/network.ts'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import { describeFeeds } from '../feeds.ts'
import { type Point, neighbour, pointOf, textOf } from '../oracle/address.ts'
import { type Claim, claimsOf, newEvidence } from '../oracle/evidence.ts'
import { plainFeeds } from '../oracle/feeds.ts'
import { sortedOnce } from '../oracle/sample.ts'
import { type Subject, subjectOf } from '../oracle/table.ts'
import { type AsRow, asRows } from '../oracle/world.ts'
import { type WorldDay, worldTable } from './world-tables.ts'

const examplesMax = 50
const ownLists = ['vpn-mullvad', 'vpn-protonvpn']
const thirdPartyBots = /^bot-(?:ipverse|gb)-/
/** Lists of a hoster's announcements: they count while it announces. */
const derived =
  /^hosting-(?:alibaba|contabo|flyio|hetzner|ibmcloud|leaseweb|m247|ovh|scaleway|tencent|vultr) /

/** A listed address with all that is said of it. */
interface Example {
  readonly text: string
  readonly point: Point
  readonly said: readonly string[]
  readonly answer: CheckAnswer
}

interface Said {
  readonly point: Point
  /** One a line. */
  readonly statements: string
}

interface Told {
  readonly has: (start: string) => boolean
  /** Nothing is said but by feeds of which one begins so. */
  readonly only: (...starts: string[]) => boolean
  /** Nothing is said but by lists of announcements. */
  readonly derived: boolean
  readonly lists: number
}

function told(said: readonly string[]): Told {
  const counts = said
    .filter((one) => / blocklist /.test(one))
    .map((one) => Number(one.split(' ')[3]))
  return {
    has: (start) => said.some((one) => one.startsWith(start) || one.includes(` ${start} `)),
    only: (...starts) => said.every((one) => starts.some((start) => one.startsWith(start))),
    derived: said.every((one) => derived.test(one)),
    lists: counts.reduce((sum, count) => sum + count, 0),
  }
}

describeFeeds('situations on real addresses', () => {
  let table: OpenTable
  let lastYear: OpenTable
  let subject: Subject
  /** Not by a map: addresses that begin a /64 have one hash in it. */
  let said: readonly Said[]
  let rows: readonly AsRow[]

  beforeAll(async () => {
    table = openTable(await worldTable())
    lastYear = openTable(await worldTable('2025-11-22'))
    subject = subjectOf(table)
    const inAccess = (point: Point): boolean => subject.find(point).network?.access === true
    const claims = plainFeeds.flatMap((feed) => claimsOf(feed, inAccess))
    said = [...saidOf(claims, 4), ...saidOf(claims, 6)]
    rows = asRows(4)
  })

  /** Listed addresses for which both hold, the first fifty; at least `least` must exist. */
  function find(
    holds: (told: Told) => boolean,
    where: (network: Network | undefined) => boolean = () => true,
    { least = 1, day = '2026-08-22' }: { least?: number; day?: WorldDay } = {},
  ): Example[] {
    const examples: Example[] = []
    // The same is said of many addresses: it is understood once.
    const known = new Map<string, boolean>()
    for (const { point, statements } of said) {
      let right = known.get(statements)
      if (right === undefined) {
        right = holds(told(statements.split('\n')))
        known.set(statements, right)
      }
      if (!right || !where(subject.find(point).network)) continue
      const text = textOf(point)
      const answer = (day === '2025-11-22' ? lastYear : table).check(text)!
      examples.push({ text, point, said: statements.split('\n'), answer })
      if (examples.length === examplesMax) break
    }
    expect(examples.length).toBeGreaterThanOrEqual(least)
    return examples
  }

  /** Those that are not right, with the whole answer for whoever has to look. */
  function wrongAmong(
    examples: readonly Example[],
    right: (answer: CheckAnswer) => boolean,
  ): readonly unknown[] {
    return examples
      .filter(({ answer }) => !right(answer))
      .slice(0, 3)
      .map(({ text, said, answer }) => ({ text, said, answer }))
  }

  const isHoster = (network: Network | undefined): boolean => network?.type === 'hosting'
  const isHome = (network: Network | undefined): boolean =>
    network?.access === true && !network.shared && !network.mobile

  it('a Tor exit, also in a VPN list, in a hosting AS', () => {
    const examples = find((it) => it.has('tor-exits-onionoo') && it.has('vpn') && it.has('hosting'))
    expect(
      wrongAmong(examples, ({ classification, risk_score, signals, proxy }) => {
        const all = signals.tor && signals.vpn && signals.hosting
        return classification === 'tor' && risk_score >= 85 && all && proxy?.type === 'tor'
      }),
    ).toEqual([])
  })

  it('Googlebot, on one abuse list', () => {
    const examples = find((it) => it.has('bot-googlebot') && it.lists === 1)
    expect(
      wrongAmong(
        examples,
        ({ classification, bot, risk_score, signals }) =>
          classification === 'known_bot' &&
          bot?.confidence === 'high' &&
          risk_score <= 10 &&
          signals.blocklist_match,
      ),
    ).toEqual([])
  })

  it('a crawler that only a third party lists, on a cloud', () => {
    const thirdParty = ['bot-ipverse-crawlers', 'bot-gb-ahrefsbot', 'hosting-', 'block-']
    const examples = find(
      (it) => it.only(...thirdParty) && it.lists < 3 && it.has('bot') && it.has('hosting'),
      isHoster,
      { least: 20 },
    )
    expect(examples.every(({ said }) => said.some((one) => thirdPartyBots.test(one)))).toBe(true)
    expect(
      wrongAmong(
        examples,
        ({ classification, bot }) => classification === 'known_bot' && bot?.confidence === 'medium',
      ),
    ).toEqual([])
  })

  it('a Proton or Mullvad exit in a hoster', () => {
    for (const list of ownLists) {
      const examples = find(
        (it) =>
          it.has(`${list} vpn exact`) &&
          it.only(...ownLists, 'vpn-openlists-mullvad', 'vpn-x4b', 'hosting-', 'block-') &&
          it.has('hosting'),
        isHoster,
        { least: 20 },
      )
      const provider = list === 'vpn-mullvad' ? 'Mullvad' : 'ProtonVPN'
      expect(
        wrongAmong(
          examples,
          ({ classification, proxy, signals }) =>
            classification === 'vpn' &&
            proxy?.type === 'vpn' &&
            proxy.provider === provider &&
            signals.hosting,
        ),
      ).toEqual([])
    }
  })

  it('an address of a hoster of VPNs that no list names: never vpn', () => {
    const hosters = new Set([9009, 212238])
    const found = rows.filter(({ asn }) => hosters.has(asn))
    const unlisted = found
      .map(({ first }) => ({ text: textOf(first), point: first }))
      .filter(({ point }) => !subject.find(point).evidence.includes(' vpn '))
    expect(unlisted.length).toBeGreaterThan(5)
    const wrong = unlisted.filter(({ text }) => table.check(text)!.signals.vpn)
    expect(wrong).toEqual([])
  })

  it('a server of a VPN brand’s own AS that no list names', () => {
    const examples = find((it) => it.only('table-vpn-operators', 'hosting-') && it.has('vpn'))
    const others = examples.filter(({ answer }) => answer.proxy?.provider !== 'Cloudflare WARP')
    expect(others.length).toBeGreaterThan(0)
    expect(
      wrongAmong(
        others,
        ({ classification, proxy }) =>
          classification === 'vpn' && proxy?.confidence === 'medium' && proxy.provider !== '',
      ),
    ).toEqual([])
  })

  it('Cloudflare WARP egress', () => {
    for (const text of ['2a09:bac0::1', '2a09:bac5::1']) {
      const { classification, proxy, risk_score, reasons } = table.check(text)!
      expect([classification, proxy?.provider]).toEqual(['vpn', 'Cloudflare WARP'])
      expect(risk_score).toBeLessThanOrEqual(49)
      expect(reasons).toContain('consumer_vpn')
    }
  })

  it('a network of type hosting is not silent', () => {
    const hosters = rows.filter(({ first }) => subject.find(first).network?.type === 'hosting')
    expect(hosters.length).toBeGreaterThan(10_000)
    const silent = hosters
      .map(({ first }) => table.check(textOf(first))!)
      .filter(({ risk_score, signals, bot }) => risk_score === 0 && !signals.relay && bot === null)
    expect(silent.slice(0, 3)).toEqual([])
  })

  it('beside a VPN’s servers: hosting, at least 25, with the reason', () => {
    let found = 0
    for (const { first } of rows) {
      if (typeof first !== 'number') continue
      const answer = table.check(textOf(first))!
      if (!answer.reasons.includes('vpn_neighbourhood') || answer.signals.blocklist_match) continue
      found++
      expect(answer.network?.type).toBe('hosting')
      expect(answer.signals.hosting && answer.risk_score < 25).toBe(false)
      expect(answer.signals.vpn).toBe(false)
    }
    expect(found).toBeGreaterThan(10)
  })

  it('corporate egress in a VPN list', () => {
    const examples = find(
      (it) => it.has('vpn'),
      (network) => network?.corporate === true,
    )
    expect(
      wrongAmong(examples, ({ risk_score, signals }) => risk_score <= 30 && signals.vpn),
    ).toEqual([])
  })

  it('Starlink, a university, T-Mobile US', () => {
    const types = { 14593: 'satellite', 3: 'education', 21928: 'mobile' }
    for (const [asn, type] of Object.entries(types)) {
      const own = rows.filter((row) => row.asn === Number(asn)).map(({ first }) => first)
      const silent = own.filter((point) => subject.find(point).evidence === '')
      expect(silent.length).toBeGreaterThan(5)
      const answers = silent.map((point) => table.check(textOf(point))!)
      const wrong = answers.filter(
        ({ classification, risk_score, network }) =>
          classification !== 'clean' || risk_score !== 0 || network?.type !== type,
      )
      expect(wrong).toEqual([])
    }
  })

  it('a cloud’s NAT used by a company’s staff', () => {
    const examples = find((it) => it.has('hosting-aws') && it.only('hosting-'), isHoster, {
      least: 20,
    })
    expect(
      wrongAmong(
        examples,
        ({ classification, risk_score, proxy }) =>
          classification === 'hosting' && risk_score === 40 && proxy?.type === 'data_center',
      ),
    ).toEqual([])
  })

  it('an iCloud relay, also on an abuse list', () => {
    const examples = find(
      (it) => it.has('relay') && it.lists > 0 && !it.has('tor') && !it.has('proxy'),
    )
    expect(
      wrongAmong(
        examples,
        ({ classification, signals, proxy, risk_score }) =>
          classification === 'clean' &&
          signals.relay &&
          signals.blocklist_match &&
          proxy === null &&
          risk_score <= 20,
      ),
    ).toEqual([])
  })

  it('an open proxy on a home line that its publisher tested', () => {
    const lists = ['proxy-monosans', 'proxy-iplocate', 'proxy-proxmint']
    for (const list of lists) {
      const examples = find((it) => it.only(list), isHome, { least: 5 })
      expect(
        wrongAmong(
          examples,
          ({ classification, risk_score, reasons }) =>
            classification === 'proxy' && risk_score >= 60 && !reasons.includes('rarely_seen'),
        ),
      ).toEqual([])
    }
  })

  // No address is at once on a list of residential and of public proxies: 30,000 and 1,611 of them,
  // taken nine months apart, have none in common. test/score/situations.test.ts has that row.

  it('a residential exit on a mobile carrier', () => {
    const examples = find(
      (it) => it.has('resproxy-avastel-1day'),
      (network) => network?.mobile === true,
      { least: 20, day: '2025-11-22' },
    )
    expect(
      wrongAmong(
        examples,
        ({ classification, risk_score, signals }) =>
          classification === 'residential_proxy' && risk_score <= 74 && signals.mobile,
      ),
    ).toEqual([])
  })

  it('a hoster’s old prefix, now announced by an ISP', () => {
    // OVH Telecom and M247 UK sell lines, too: there the prefix is still the hoster's.
    const ownIsps = new Set([35540, 42973])
    const examples = find(
      (it) => it.derived,
      (network) => isHome(network) && !ownIsps.has(network?.asn ?? 0),
      { least: 5 },
    )
    expect(
      wrongAmong(
        examples,
        ({ classification, risk_score, reasons }) =>
          classification === 'clean' && risk_score === 0 && reasons.includes('origin_changed'),
      ),
    ).toEqual([])
  })

  it('the neighbour in a listed customer’s IPv6 /64, access network', () => {
    const examples = find(
      (it) => it.has('block-'),
      (network) => network?.access === true,
    ).filter(({ point }) => typeof point === 'bigint')
    for (const { answer, point } of examples) {
      const beside = table.check(textOf((point as bigint) ^ 0x1234n))!
      expect({ ...beside, ip: '', address: '' }).toEqual({ ...answer, ip: '', address: '' })
    }
  })

  it('the neighbour of a listed server in a shared IPv6 /64', () => {
    const examples = find((it) => it.has('tor-exits-onionoo') && it.has('hosting'), isHoster, {
      least: 20,
    }).filter(({ point }) => typeof point === 'bigint')
    const wrong = examples
      .map(({ point }) => neighbour(point, 1)!)
      .filter((point) => !said.some((one) => one.point === point))
      .map((point) => table.check(textOf(point))!)
      .filter(({ classification, signals }) => classification !== 'hosting' || signals.tor)
    expect(wrong).toEqual([])
  })

  it('8.8.8.8 and 1.1.1.1', () => {
    for (const text of ['8.8.8.8', '1.1.1.1', '2001:4860:4860::8888', '2606:4700:4700::1111']) {
      const { classification, risk_score, bot, signals, network } = table.check(text)!
      expect([classification, risk_score]).toEqual(['clean', 0])
      expect(['cdn', 'hosting']).toContain(network?.type)
      expect([bot, signals.proxy, signals.vpn]).toEqual([null, false, false])
    }
  })

  it('on five abuse lists or more, home line', () => {
    // No home line is on eight; from five on they count the same.
    const examples = find(
      (it) => it.has('block-ipsum') && it.only('block-') && it.lists >= 5,
      isHome,
      { least: 5 },
    )
    expect(
      wrongAmong(
        examples,
        ({ classification, risk_score, risk_level }) =>
          classification === 'clean' && risk_score === 45 && risk_level === 'medium',
      ),
    ).toEqual([])
  })

  it('bogons', () => {
    for (const text of ['100.64.0.1', '198.51.100.24', '2002:0a00:1::', '64:ff9b::10.0.0.1']) {
      expect(table.check(text)).toMatchObject({
        classification: 'bogon',
        risk_score: 0,
        network: null,
        location: null,
        proxy: null,
        bot: null,
      })
    }
  })

  it('6to4 of a Tor exit', () => {
    const examples = find((it) => it.has('tor-exits-onionoo'), undefined, { least: 20 }).filter(
      ({ point }) => typeof point === 'number',
    )
    for (const { point, answer } of examples) {
      const digits = (point as number).toString(16).padStart(8, '0')
      const embedding = table.check(`2002:${digits.slice(0, 4)}:${digits.slice(4)}::`)!
      expect(embedding.classification).toBe('tor')
      expect(embedding.risk_score).toBeGreaterThanOrEqual(answer.risk_score)
      expect(embedding.network).toEqual(answer.network)
    }
  })

  it('a content delivery network’s edge address', () => {
    // Customers announce some ranges of both from ASes of their own: only the operator's AS is
    // asked.
    for (const [list, asn] of [
      ['hosting-cloudflare', 13335],
      ['hosting-fastly', 54113],
    ] as const) {
      const examples = find(
        (it) => it.has(list) && it.only('hosting-'),
        (network) => network?.asn === asn,
        { least: 5 },
      )
      expect(
        wrongAmong(
          examples,
          ({ classification, network, reasons }) =>
            ['hosting', 'clean'].includes(classification) &&
            network?.type === 'cdn' &&
            reasons.includes('cdn_edge'),
        ),
      ).toEqual([])
    }
  })

  it('a network that one list and its own name call a hoster is hosting, 25', () => {
    const named = [...subject.networks()].filter(({ hosters }) => {
      const voices = hosters.split('\n')
      const isList = (id: string): boolean => id.startsWith('hosting-asn-')
      return voices.length === 2 && voices.includes('network-names') && !voices.some(isList)
    })
    expect(named.length).toBeGreaterThan(200)
    expect(named.filter(({ network }) => network.access)).toEqual([])
    const asns = new Set(named.map(({ network }) => network.asn))
    const answers = rows.flatMap(({ asn, first }) => {
      const answer = asns.has(asn) ? table.check(textOf(first)) : undefined
      return answer?.network?.asn === asn ? [answer] : []
    })
    const inferred = answers.filter(({ reasons }) => reasons.join() === 'hosting_inferred')
    expect(inferred.length).toBeGreaterThan(200)
    for (const { classification, risk_score, proxy } of inferred) {
      expect([classification, proxy?.type, proxy?.confidence]).toEqual([
        'hosting',
        'data_center',
        'low',
      ])
      expect(risk_score).toBe(25)
    }
    expect(answers.filter(({ reasons }) => reasons.includes('hosting_unconfirmed'))).toEqual([])
  })
})

/** What is said of the first address of every claim. */
function saidOf(claims: readonly Claim[], family: 4 | 6): readonly Said[] {
  const type = family === 4 ? 'number' : 'bigint'
  const own = claims.filter(({ first }) => typeof first === type)
  const queries = sortedOnce(
    own.map(({ first }) => first),
    family,
  ).filter((point) => point !== pointOf('0.0.0.0'))
  const evidence = newEvidence(queries)
  evidence.add(own)
  return queries.map((point, index) => ({ point, statements: evidence.at(index) }))
}
