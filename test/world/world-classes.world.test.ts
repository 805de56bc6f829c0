// Real addresses for every classification but mixed (which needs a history): at least twenty each,
// IPv6 too where feeds have it. The addresses come from the feed files and IANA's registries, not
// from the table that answers.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import type { Classification } from '../../src/model/kind.ts'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import { describeFeeds } from '../feeds.ts'
import { neighbour, spanOf, textOf } from '../oracle/address.ts'
import { plainFeeds } from '../oracle/feeds.ts'
import { type WorldDay, worldDays, worldTable } from './world-tables.ts'

const enough = 20

interface Claimed {
  readonly classification: Classification
  readonly family: 4 | 6
  /** Feeds that the addresses are taken from; `iana` stands for the special-purpose registries. */
  readonly from: readonly string[]
  readonly day?: WorldDay
  /** Part of the taken addresses that must get it; the rest have other evidence besides. */
  readonly share?: number
  /** What else must hold of each that gets it. */
  readonly also?: (answer: CheckAnswer) => boolean
}

const lastYear: WorldDay = '2025-11-22'
const hasRelay = ({ signals }: CheckAnswer): boolean => signals.relay
const isCrawler = ({ bot }: CheckAnswer): boolean =>
  bot?.confidence === 'high' && bot.category === 'search_crawler'
const isAiTool = ({ bot }: CheckAnswer): boolean => bot?.category === 'ai_tool'
const torLists = ['tor-exits-onionoo']
const operators = ['vpn-mullvad', 'vpn-pia', 'vpn-protonvpn', 'vpn-tunnelbear', 'vpn-windscribe']
const publicLists = ['proxy-monosans', 'proxy-iplocate', 'proxy-proxmint']

const claims: readonly Claimed[] = [
  { classification: 'tor', family: 4, from: torLists, share: 1 },
  { classification: 'tor', family: 6, from: torLists, share: 1 },
  ...operators.map((id): Claimed => ({
    classification: 'vpn',
    family: 4,
    from: [id],
    share: 0.99,
  })),
  { classification: 'vpn', family: 6, from: ['vpn-x4b'], share: 0.9 },
  ...publicLists.map((id): Claimed => ({
    classification: 'proxy',
    family: 4,
    from: [id],
    share: 0.95,
  })),
  // Ranges over people's lines accuse nobody of being a residential proxy (scoring.md, rule 13).
  { classification: 'clean', family: 4, from: ['resproxy-avastel'] },
  {
    classification: 'residential_proxy',
    family: 4,
    from: ['resproxy-avastel-1day'],
    day: lastYear,
    share: 0.6,
  },
  { classification: 'hosting', family: 4, from: ['hosting-aws'], share: 0.99 },
  { classification: 'hosting', family: 6, from: ['hosting-aws'], share: 0.99 },
  { classification: 'hosting', family: 4, from: ['hosting-hetzner'], share: 0.9 },
  { classification: 'hosting', family: 6, from: ['hosting-oracle', 'hosting-digitalocean-txt'] },
  { classification: 'known_bot', family: 4, from: ['bot-googlebot'], share: 1, also: isCrawler },
  { classification: 'known_bot', family: 6, from: ['bot-googlebot'], share: 1, also: isCrawler },
  { classification: 'known_bot', family: 4, from: ['bot-openai'], share: 1, also: isAiTool },
  { classification: 'clean', family: 4, from: ['relay-apple'], share: 0.99, also: hasRelay },
  { classification: 'clean', family: 6, from: ['relay-apple'], share: 0.99, also: hasRelay },
  { classification: 'clean', family: 4, from: ['block-ipsum', 'block-ddrimus'] },
  { classification: 'bogon', family: 4, from: ['iana'], share: 1 },
  { classification: 'bogon', family: 6, from: ['iana'], share: 1 },
]

describeFeeds('classifications on real addresses', () => {
  let tables: ReadonlyMap<WorldDay, OpenTable>
  beforeAll(async () => {
    const opened = new Map<WorldDay, OpenTable>()
    for (const day of worldDays) opened.set(day, openTable(await worldTable(day)))
    tables = opened
  })
  afterAll(() => tables.forEach((table) => table.close()))

  for (const claimed of claims) {
    const { classification, family, from, day = '2026-08-22', share = 0, also } = claimed
    it(`${classification}, IPv${family}, from ${from.join(', ')}, as of ${day}`, () => {
      const table = tables.get(day)!
      const asked = from.flatMap((id) => addressesOf(id, family))
      const got = asked
        .map((text) => table.check(text)!)
        .filter((answer) => answer.classification === classification)
      expect(got.length).toBeGreaterThanOrEqual(enough)
      expect(got.length / asked.length).toBeGreaterThanOrEqual(share)
      expect(got.filter((answer) => also?.(answer) === false)).toEqual([])
    })
  }

  it('covers every classification but mixed', () => {
    const covered = new Set(claims.map(({ classification }) => classification))
    expect([...covered].sort().join(' ')).toBe(
      'bogon clean hosting known_bot proxy residential_proxy tor vpn',
    )
  })
})

/** First addresses of what a feed lists, each once. */
function addressesOf(id: string, family: 4 | 6): readonly string[] {
  if (id === 'iana') return bogonsOf(family)
  const feed = plainFeeds.find((one) => one.id === id)!
  const type = family === 4 ? 'number' : 'bigint'
  const firsts = feed.entries().map(({ text }) => spanOf(text).first)
  return [...new Set(firsts)].filter((first) => typeof first === type).map(textOf)
}

/** Both ends and their inner neighbours of every entry that is not Globally Reachable. */
function bogonsOf(family: 4 | 6): readonly string[] {
  const file = new URL(`../../data/iana/ipv${family}-special-registry.csv`, import.meta.url)
  const rows = readFileSync(file, 'utf8').trim().split('\n').slice(1)
  return (
    rows
      .filter((row) => row.endsWith(',False'))
      .map((row) => row.split(',')[0]!)
      // Looked up by contract 3.8; and what is judged by the IPv4 address inside.
      .filter((prefix) => prefix !== '192.88.99.2/32' && !prefix.startsWith('::ffff:'))
      .flatMap((prefix) => {
        const { first, last } = spanOf(prefix)
        const inner = first === last ? [] : [neighbour(first, 1)!, neighbour(last, -1)!, last]
        return [...new Set([first, ...inner])].map(textOf)
      })
  )
}
