// Answers of the administrative API for tests of the console's page: by the types of its wire, with
// everything in them that a real server has, and names of feeds, networks and notes that attack.

import type {
  AddressRows,
  AddressView,
  FeedsView,
  NetworkView,
  PastDay,
  SetTrial,
  SetsView,
  TableChanges,
  TrafficView,
} from '../../src/api/admin-answers.ts'
import type { ContextAnswer } from '../../src/api/check-answer.ts'
import { type Classification, riskLevelOf, signalNames } from '../../src/model/kind.ts'

/** A text that runs where it is taken for markup, and says so. */
export const hostile = `"><img src=x onerror="window.harmed=1"><script>window.harmed=1</script>`

const day = (back: number): string =>
  new Date(Date.UTC(2026, 10, 22) - back * 86_400_000).toISOString().slice(0, 10)

/** Numbers from 0 up to 1, the same in every run. */
function drawn(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

function classOf(ip: string): {
  readonly classification: Classification
  readonly risk_score: number
} {
  const last = Number(ip.split('.').at(-1))
  if (ip.includes(':') || Number.isNaN(last)) return { classification: 'vpn', risk_score: 62 }
  if (ip.startsWith('185.220.101.') && last >= 8 && last < 72 && last % 3 !== 1) {
    return { classification: 'tor', risk_score: 88 + (last % 5) }
  }
  if (last % 29 === 5) return { classification: 'proxy', risk_score: 71 }
  if (last % 17 === 3) return { classification: 'hosting', risk_score: 34 }
  if (last % 41 === 7) return { classification: 'residential_proxy', risk_score: 83 }
  return { classification: 'clean', risk_score: 2 }
}

const strip = (seed: number, share: number, gaps: number): string => {
  const next = drawn(seed)
  return Array.from({ length: 60 }, () => {
    const one = next()
    return one < gaps ? '-' : one < gaps + share ? '1' : '0'
  }).join('')
}

export function addressView(ip: string, without: string, days: number): AddressView {
  const { classification, risk_score } = classOf(ip)
  const isTor = classification === 'tor'
  const reasons = isTor
    ? [
        { code: 'tor_exit_listed', text: 'Tor’s own directory names it as an exit.', points: 85 },
        { code: 'blocklist_match', text: 'Two blocklists name it.', points: 9 },
        { code: 'hosting_network', text: 'Its network is a hoster’s.', points: 6 },
        { code: 'cap_tor', text: 'No more than a Tor exit gets.', points: risk_score - 100 },
      ]
    : [{ code: 'network_isp', text: 'Its network serves households.', points: risk_score }]
  const signals = Object.fromEntries(
    signalNames.map((name) => [
      name,
      isTor && ['tor', 'proxy', 'hosting', 'blocklist_match'].includes(name),
    ]),
  ) as AddressView['answer']['signals']
  const isAsked = without !== '' || days > 0
  const what_if = isAsked
    ? { risk_score: days > 30 ? 12 : 41, classification: days > 30 ? 'clean' : 'hosting' }
    : null
  return {
    answer: {
      classification,
      risk_level: riskLevelOf(risk_score),
      risk_score,
      ip,
      version: ip.includes(':') ? 6 : 4,
      network: {
        asn: 60729,
        organization: 'Stiftung Erneuerbare Freiheit',
        type: 'hosting',
        mobile: false,
      },
      location: {
        country_code: 'DE',
        continent_code: 'EU',
        continent: 'Europe',
        country: 'Germany',
        state: 'Brandenburg',
        city: 'Brandenburg an der Havel',
        zip: '14770',
        latitude: 52.4167,
        longitude: 12.55,
        timezone: 'Europe/Berlin',
        currency_code: 'EUR',
        accuracy: 'city',
      },
      proxy: isTor
        ? {
            confidence: 'high',
            type: 'tor',
            provider: 'Tor',
            last_seen_at: day(0),
            percent_days_seen: 97,
          }
        : null,
      bot: null,
      signals,
      reasons: reasons.map(({ code }) => code),
      table: '20261122-7f3a91c2',
      ...(ip === '192.0.2.3' ? { coverage: { missing: [], partly: [], age_days: 12 } } : {}),
      lists: ['partners'],
      observed: ['new-rule'],
    },
    insights: {
      table: { id: '20261122-7f3a91c2', built_at: '2026-11-22T03:10:00Z', as_of: day(0) },
      score_range: [Math.max(0, risk_score - 6), Math.min(100, risk_score + 4)],
      reasons,
      evidence: isTor ? torEvidence(ip) : [],
      neighborhood: [
        {
          scope: '185.220.101.0/24',
          unit: 'address',
          size: 256,
          listed: [
            { kind: 'tor', listed: 44, percent: 17.2, times_asn: 3.1 },
            { kind: 'proxy', listed: 9, percent: 3.5, times_asn: 1.2 },
          ],
        },
        {
          scope: '185.220.96.0/20',
          unit: 'address',
          size: 4096,
          listed: [{ kind: 'tor', listed: 311, percent: 7.6, times_asn: 1.4 }],
        },
        {
          scope: 'AS60729',
          unit: 'address',
          size: 5632,
          listed: [{ kind: 'tor', listed: 318, percent: 5.6, times_asn: null }],
        },
      ],
      counterfactuals: {
        without_feed: isTor
          ? [
              {
                feed: 'tor-exit-list',
                classification: 'hosting',
                risk_level: 'medium',
                risk_score: 41,
              },
              {
                feed: 'blocklist-de',
                classification: 'tor',
                risk_level: 'very_high',
                risk_score: 86,
              },
              {
                feed: 'hosting-ranges',
                classification: 'tor',
                risk_level: 'very_high',
                risk_score: 85,
              },
            ]
          : [],
        falls_below: isTor
          ? [
              { risk_level: 'very_high', day: '2026-11-26' },
              { risk_level: 'high', day: '2026-12-02' },
              { risk_level: 'medium', day: null },
            ]
          : [],
      },
      alternatives: [],
    },
    decision: isTor
      ? { action: 'challenge', rule: 'high-score', policy: 'default' }
      : { action: 'allow', rule: '', policy: 'default' },
    lists: [
      {
        list: 'partners',
        effect: 'none',
        entry: '185.220.101.0/24',
        since: '2026-08-01T00:00:00Z',
        until: '2026-12-31T00:00:00Z',
        note: hostile,
      },
    ],
    strips: isTor
      ? [
          {
            feed: 'tor-exit-list',
            kind: 'tor',
            since: day(59),
            until: day(0),
            days: strip(3, 0.9, 0.04),
          },
          {
            feed: hostile,
            kind: 'blocklist',
            since: day(31),
            until: day(2),
            days: strip(5, 0.35, 0.1),
          },
          {
            feed: 'hosting-ranges',
            kind: 'hosting',
            since: day(59),
            until: day(0),
            days: '1'.repeat(60),
          },
        ]
      : [],
    first_day: day(59),
    neighbours: {
      prefix: ip.includes(':') ? '2001:db8::/56' : `${ip.split('.').slice(0, 3).join('.')}.0/24`,
      cells: ip.includes(':')
        ? Array.from({ length: 256 }, (_, line) => {
            const neighbour = line === 0 ? ip : `2001:db8:0:${line.toString(16)}::`
            return { ip: neighbour, ...classOf(neighbour) }
          })
        : Array.from({ length: 256 }, (_, last) => {
            const neighbour = `${ip.split('.').slice(0, 3).join('.')}.${last}`
            return { ip: neighbour, ...classOf(neighbour) }
          }),
    },
    what_if,
  }
}

/** Of 192.0.2.1, and of what is no address. */
export function travelContext(previous: string, hours: number): ContextAnswer {
  const known = previous === '192.0.2.1'
  const km = known ? 2400 : 0
  const travel = {
    known,
    km,
    hours: hours + 0.0001,
    kmh: km / hours,
    same_country: false,
    same_asn: false,
  }
  const doubts = { reliable: false, unreliable_because: known ? (['tor', 'hosting'] as const) : [] }
  const message = 'It must be one IPv4 or IPv6 address, as a string.'
  const errors = known ? {} : { context_errors: [{ param: 'previous.ip', message }] }
  return { travel: { ...travel, ...doubts }, ...errors }
}

const { answer: pastAnswer, insights: pastInsights } = addressView('185.220.101.33', '', 0)

/** 185.220.101.33 on 2026-07-13. */
export const pastDay: PastDay = {
  ...pastAnswer,
  risk_score: 79,
  risk_level: 'very_high',
  insights: {
    ...pastInsights,
    table: { ...pastInsights.table, as_of: '2026-07-13' },
    reasons: pastInsights.reasons.slice(0, 2),
    evidence: pastInsights.evidence.slice(0, 2).map((one) => {
      return { ...one, first_seen: '2026-05-02', last_seen: '2026-07-13' }
    }),
  },
  left_out: ['block-spamhaus-drop', hostile, 'tor-exits-x4b'],
}

function torEvidence(ip: string): AddressView['insights']['evidence'] {
  const shared = {
    days_seen: 29,
    days_observed: 30,
    lists: 1,
    first_seen: day(59),
    last_seen: day(0),
  } as const
  return [
    {
      ...shared,
      feed: 'tor-exit-list',
      kind: 'tor',
      provider: 'Tor',
      matched: ip,
      match: 'exact',
      confidence: 'high',
      weight: 0.98,
      licence: 'CC0-1.0',
    },
    {
      ...shared,
      feed: hostile,
      kind: 'blocklist',
      provider: hostile,
      matched: ip,
      match: 'exact',
      confidence: 'medium',
      weight: 0.55,
      lists: 2,
      licence: hostile,
    },
    {
      ...shared,
      feed: 'hosting-ranges',
      kind: 'hosting',
      provider: 'F3 Netze',
      matched: '185.220.101.0/24',
      match: 'range',
      confidence: 'high',
      weight: 0.9,
      licence: 'CC-BY-4.0',
    },
  ]
}

export const networkView = (of: string): NetworkView => ({
  of,
  name: of.startsWith('AS') ? hostile : '',
  against: '20261121-10be77aa',
  ipv4: [
    { classification: 'clean', addresses: 1018 },
    { classification: 'tor', addresses: 141 },
    { classification: 'vpn', addresses: 627, before: 603 },
    { classification: 'proxy', addresses: 0, before: 31 },
  ],
  ipv6: [{ classification: 'hosting', addresses: 17_104_918 }],
  lists: [{ list: 'attackers', effect: 'block', entry: of, since: '', until: null, note: hostile }],
})

const networks = [
  'Deutsche Telekom AG',
  'Hetzner Online GmbH',
  'OVH SAS',
  'Comcast Cable',
  hostile,
] as const
const countries = ['DE', 'FR', 'US', 'NL', 'BR', 'IN'] as const

export function addressRows(addresses: readonly string[]): AddressRows {
  const rows = addresses.map((ip) => {
    if (/^0\.|[^0-9a-f.:]/.test(ip)) return { ip, error: 'This is no address.' }
    const { classification, risk_score } = classOf(ip)
    const last = Number(ip.split('.').at(-1)) || 0
    return {
      ip,
      classification,
      risk_score,
      risk_level: riskLevelOf(risk_score),
      asn: 3320 + (last % 5),
      network: networks[last % 5]!,
      network_type: classification === 'hosting' ? 'hosting' : 'isp',
      country: countries[last % 6]!,
      provider: classification === 'vpn' ? '=HYPERLINK("http://evil.example")' : '',
      reasons: ['network_isp'],
      lists: last % 9 === 0 ? ['partners'] : [],
      action: risk_score >= 50 ? 'challenge' : 'allow',
    }
  })
  return { rows }
}

/** Six hours of minutes up to the newest full one before `until`. */
export function trafficView(until: number): TrafficView {
  const next = drawn(11)
  const start = Math.floor(until / 60_000) * 60_000 - 360 * 60_000
  const minutes = Array.from({ length: 360 }, (_, at) => {
    const wave = 1 + 0.5 * Math.sin(at / 57) + 0.1 * next()
    const bump = at > 250 && at < 285 ? 5 : 1
    const part = (share: number): number => Math.round(2600 * wave * share * (0.9 + 0.2 * next()))
    const classes = {
      clean: part(0.83),
      hosting: part(0.08),
      vpn: part(0.04),
      tor: part(0.01 * bump),
      proxy: part(0.02 * bump),
      residential_proxy: part(0.012),
      known_bot: part(0.01),
    }
    const checks = Object.values(classes).reduce((sum, one) => sum + one, 0)
    return {
      at: new Date(start + at * 60_000).toISOString(),
      checks,
      classes,
      sources: { check: part(0.8), gate: part(0.2) },
      keys: { k3f9a2c17d: part(0.7), k81b0e44f2: part(0.1) },
      scores: [0.7, 0.12, 0.05, 0.03, 0.02, 0.02, 0.015, 0.01 * bump, 0.02 * bump, 0.01].map(part),
      decisions: {
        'default/allow': part(0.9),
        'default/challenge': part(0.06 * bump),
        'default/block': part(0.01 * bump),
        'login/allow': part(0.2),
      },
      statuses: {
        '200': checks,
        '400': part(0.002),
        '401': part(0.001),
        '429': at > 260 && at < 280 ? part(0.03) : 0,
      },
      limited: { rate: at > 260 && at < 280 ? part(0.02) : 0, quota: 0 },
      latency: {
        p50: 0.0007 + 0.0002 * next(),
        p90: 0.0012 + 0.0003 * next(),
        p99: 0.0019 + 0.001 * next(),
      },
    }
  })
  const top = (names: readonly string[]) =>
    names.map((name, at) => ({ name, checks: Math.round(51_200 / (at + 1)), error: at * 64 }))
  return {
    minutes,
    before: {
      checks: 880_000,
      decisions: { 'default/allow': 800_000, 'default/challenge': 64_000, 'default/block': 9000 },
    },
    top: {
      networks: top([...networks, 'Vodafone GmbH', 'Orange S.A.']),
      countries: top(['Germany', 'France', 'United States', 'Netherlands', 'Brazil', 'India']),
      providers: top(['NordVPN', 'Tor', 'Mullvad', 'Private Relay']),
      blocked: top(['AS60729 Stiftung Erneuerbare Freiheit', 'AS9009 M247 Europe SRL', hostile]),
      keys: top(['k3f9a2c17d', 'k81b0e44f2']),
    },
  }
}

export function feedsView(): FeedsView {
  const next = drawn(23)
  const names: readonly (readonly [string, string, string])[] = [
    ['tor-exit-list', 'Tor exit addresses', 'tor'],
    ['vpn-x4b', 'VPN networks', 'vpn'],
    ['proxy-free-lists', 'Open proxies', 'proxy'],
    ['hosting-ranges', 'Ranges of hosters', 'hosting'],
    ['blocklist-de', 'Attackers of the last 48 hours', 'blocklist'],
    ['residential-captured', 'Residential proxies', 'residential_proxy'],
    ['googlebot', 'Googlebot’s ranges', 'bot'],
    ['private-relay', 'Egress of a relay', 'relay'],
    ['hostile', hostile, 'blocklist'],
  ]
  const feeds = names.map(([id, name, kind], at) => {
    const base = Math.round(1200 * 9 ** (next() * 4))
    return {
      id,
      name,
      kind,
      day: day(at === 5 ? 12 : at % 3),
      age_days: at === 5 ? 12 : at % 3,
      entries: base,
      history: Array.from({ length: 60 }, (_, back) =>
        next() < 0.05
          ? null
          : Math.round(base * (0.8 + 0.2 * Math.sin(back / (7 + at)) + 0.1 * next())),
      ),
      quarantined:
        id === 'proxy-free-lists' ? `It shrank to 3 % of its usual entries. ${hostile}` : null,
      licence: at === 8 ? hostile : 'CC-BY-4.0',
    }
  })
  const failing = [
    { id: 'proxy-free-lists', why: `It shrank to 3 % of its usual entries. ${hostile}` },
    { id: 'residential-captured', why: 'https://feeds.example/captured.txt: status 404' },
  ]
  const states = {
    tor: 'full',
    vpn: 'full',
    proxy: 'partly',
    residential_proxy: 'missing',
    hosting: 'full',
    bot: 'full',
    blocklist: 'full',
  }
  const coverage = Object.fromEntries(
    Object.entries(states).map(([kind, state]) => [
      kind,
      { state, day: state === 'missing' ? null : day(1) },
    ]),
  )
  return { table: '20261122-7f3a91c2', as_of: day(0), feeds, failing, coverage }
}

export const tableChanges: TableChanges = {
  table: '20261122-7f3a91c2',
  against: '20261121-10be77aa',
  status: 'done',
  addresses_changed: 48_213,
  ipv6: {
    lines_changed: 70_656,
    classes: [{ from: 'clean', to: 'hosting', addresses: 70_656 }],
    countries: [{ name: 'Germany', addresses: 70_656 }],
    networks: [{ name: hostile, addresses: 70_656 }],
  },
  classes: [
    { from: 'clean', to: 'vpn', addresses: 21_504 },
    { from: 'clean', to: 'proxy', addresses: 9120 },
    { from: 'tor', to: 'clean', addresses: 412 },
  ],
  countries: [
    { name: 'United States', addresses: 17_300 },
    { name: 'Germany', addresses: 8300 },
  ],
  networks: [
    { name: 'AS9009 M247 Europe SRL', addresses: 16_384 },
    { name: hostile, addresses: 2048 },
  ],
  largest: [
    { prefix: '198.51.100.0/24', from: 'clean', to: 'vpn', score_from: 3, score_to: 61 },
    { prefix: '203.0.113.64/26', from: 'tor', to: 'clean', score_from: 91, score_to: 4 },
  ],
}

/** What `iprisk policy test --json` prints, of a draft against what decides now. */
export const rehearsalReport = {
  table: { id: '20261122-7f3a91c2', as_of: day(0) },
  policy: 'default',
  revision: '00112233445566ff',
  against: { policy: 'default', revision: 'a0b1c2d3e4f50617' },
  lines: 20_480,
  requests: 20_451,
  bad_lines: 29,
  actions: [
    { action: 'allow', requests: 18_660, percent: 91.24 },
    { action: 'challenge', requests: 1500, percent: 7.33 },
    { action: 'block', requests: 291, percent: 1.42 },
  ],
  rules: [
    { rule: 'own-block-list', action: 'block', requests: 40, percent: 0.2 },
    { rule: 'high-score', action: 'challenge', requests: 1500, percent: 7.33 },
    { rule: 'new-rule', action: 'block', requests: 251, percent: 1.23, would_change: 200 },
    { rule: '', action: 'allow', requests: 18_660, percent: 91.24 },
  ],
  changed: {
    requests: 311,
    percent: 1.52,
    by_action: [{ from: 'allow', to: 'challenge', requests: 311, percent: 1.52 }],
  },
  hit: {
    networks: [{ asn: 24940, organization: hostile, requests: 120, percent: 0.59 }],
    providers: [{ provider: 'NordVPN', requests: 90, percent: 0.44 }],
    countries: [{ country_code: 'DE', country: 'Germany', requests: 130, percent: 0.64 }],
  },
  examples: [
    {
      ip: '185.220.101.33',
      requests: 31,
      classification: 'tor',
      action: 'challenge',
      rule: 'high-score',
      action_before: 'allow',
      rule_before: '',
    },
  ],
}

const set = (name: string, condition: string, more: object) => ({
  name,
  condition,
  built_in: true,
  made: null,
  ...more,
})

const made = {
  at: '2026-11-22T03:12:40Z',
  prefixes: 1389,
  ipv4: 1201,
  too_large: false,
  growth: -13,
  bytes: { plain: 21_114, nft: 22_318, 'mmdb.iprisk': 412_300 },
}

export const setsView: SetsView = {
  url: 'https://0.0.0.0:8080/lists/',
  formats: ['plain', 'nft', 'ipset', 'mmdb'],
  plan: 'business',
  sets: [
    set('tor', 'signals.tor', { made }),
    set('high-risk', 'risk_score >= 75', {
      made: { ...made, prefixes: 4_300_000, ipv4: null, too_large: true, growth: null, bytes: {} },
    }),
    set('residential-proxy', 'signals.residential_proxy', {}),
    set('bouncer', "decision.action != 'allow'", {
      made: { ...made, prefixes: 20_311, ipv4: 19_000, growth: 300 },
    }),
    set('partners', '"partners" in lists && network.organization != "Example"', {
      built_in: false,
    }),
  ],
}

export const setTrial: SetTrial = {
  ipv4: {
    prefixes: 2603,
    addresses: 4_210_332,
    networks: [
      { name: `AS24940 ${hostile}`, addresses: 3_145_728 },
      { name: 'AS64496 Example Access', addresses: 1_064_604 },
    ],
  },
  ipv6: {
    prefixes: 1,
    addresses: 1,
    networks: [{ name: 'AS64497 Example Hosting', addresses: 1 }],
  },
}
