// When an address was seen, in a finished table built over the sixty real days, against a plain
// recount of the text files: ten thousand listed addresses, each feed's evidence and the answer's
// own proxy object (contract 3.5).

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { memoise } from '../../../src/base/memoise.ts'
import { type ExplainedAnswer, answerWithInsights } from '../../../src/table/explain/insights.ts'
import { type OpenTable, openTable } from '../../../src/table/open-table.ts'
import { describeFeeds } from '../../feeds.ts'
import { type Point, textOf } from '../../oracle/address.ts'
import { type FeedDays, dayNumber, listedDays, readDays } from '../../oracle/days.ts'
import { newRandom } from '../../oracle/sample.ts'
import { subjectOf } from '../../oracle/table.ts'
import { type WorldDay, historyTable } from '../../world/world-tables.ts'

const asked = 10_000

/**
 * The longest half-life of each kind (MODEL.md), where none was measured of the feed; evidence that
 * has faded below half a percent is not in a table.
 */
const halfLives: Readonly<Record<string, number>> = {
  tor: 1,
  residential_proxy: 21,
  proxy: 15,
  blocklist: 14,
  vpn: 30,
}

/** What a feed says of an address, as the evidence of its insights has it. */
interface Said {
  readonly feed: string
  readonly first_seen: string
  readonly last_seen: string
  readonly days_seen: number
  readonly days_observed: number
}

const dateOf = (day: number): string => new Date(day * 864e5).toISOString().slice(0, 10)

/** What a feed says by its files, of an address that it listed on the days `on`. */
function recount(feed: FeedDays, on: readonly number[], today: number): Said | undefined {
  const [first, last] = [on.at(0), on.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const measured = Object.values(catalogued(feed.id)?.half_life_days ?? {})
  const halfLife = measured.length === 0 ? halfLives[feed.kind]! : Math.max(...measured)
  const age = today - last
  const isListed = last === Math.max(...feed.days)
  // Of what is no longer listed nothing is said when it has faded away or is older than 90 days.
  if (!isListed && (0.5 ** (age / halfLife) < 0.005 || age > 90)) return undefined
  const recent = (day: number): boolean => today - day < 30
  return {
    feed: feed.id,
    first_seen: dateOf(first),
    last_seen: dateOf(last),
    days_seen: on.filter(recent).length,
    days_observed: [...feed.days].filter(recent).length,
  }
}

/**
 * What the table says, the statements of one feed as one: it may list an address several ways, and
 * have a second voice for whole networks. What stands beside the address is no listing of it.
 */
function told({ insights: { evidence } }: ExplainedAnswer): readonly Said[] {
  const byFeed = new Map<string, Said>()
  for (const { kind, match, first_seen, last_seen, days_seen, days_observed, ...of } of evidence) {
    if (halfLives[kind] === undefined || match === 'near') continue
    const feed = of.feed.replace(/-networks$/, '')
    const other = byFeed.get(feed)
    byFeed.set(feed, {
      feed,
      first_seen: other && other.first_seen < first_seen ? other.first_seen : first_seen,
      last_seen: other && other.last_seen > last_seen ? other.last_seen : last_seen,
      days_seen: Math.max(other?.days_seen ?? 0, days_seen),
      days_observed,
    })
  }
  return [...byFeed.values()].sort((a, b) => (a.feed < b.feed ? -1 : 1))
}

const signalKinds = ['tor', 'residential_proxy', 'vpn', 'proxy'] as const

interface Catalogued {
  readonly rolling: boolean
  readonly half_life_days?: Readonly<Record<string, number>>
}

function readCatalogued(id: string): Catalogued | undefined {
  // A table that is kept by hand is in no catalogue.
  if (id.startsWith('table-')) return undefined
  const path = new URL(`../../../data/feeds/${id}.json`, import.meta.url)
  return JSON.parse(readFileSync(path, 'utf8')) as Catalogued
}
const catalogued = memoise(readCatalogued)

for (const day of ['2026-08-22'] as const satisfies WorldDay[]) {
  describeFeeds(`a plain recount of the days as of ${day}`, () => {
    const today = dayNumber(day)
    let table: OpenTable
    let feeds: readonly FeedDays[]
    let points: readonly Point[]
    /** By feed and address. */
    let expectedOf: (feed: FeedDays, point: Point) => Said | undefined
    beforeAll(async () => {
      table = openTable(await historyTable(day))
      const subject = subjectOf(table)
      feeds = readDays(day, (point) => subject.find(point).network?.access === true)
      points = sample(feeds.filter(({ days }) => days.size > 1))
      const listed = new Map(feeds.map((feed) => [feed, listedDays(feed, points)]))
      expectedOf = (feed, point) => {
        const on = [...(listed.get(feed)?.get(point) ?? [])].sort((a, b) => a - b)
        return recount(feed, on, today)
      }
    })
    afterAll(() => table.close())

    it('of ten thousand listed addresses every feed says what the files say', () => {
      expect(points).toHaveLength(asked)
      const wrong: unknown[] = []
      const counts = { compared: 0, lapsed: 0, severalDays: 0 }
      for (const point of points) {
        const explanation = answerWithInsights({ ...table, builtMs: 0 }, textOf(point))!
        const got = told(explanation)
        // Some lists name special-purpose space, of which no list is believed (contract 3.8).
        const asking = explanation.signals.bogon ? [] : feeds
        const expected = asking
          .map((feed) => expectedOf(feed, point))
          .filter((said) => said !== undefined)
          .sort((a, b) => (a.feed < b.feed ? -1 : 1))
        counts.compared += expected.length
        for (const { last_seen, days_seen } of expected) {
          if (last_seen < day) counts.lapsed++
          if (days_seen > 1) counts.severalDays++
        }
        if (JSON.stringify(got) !== JSON.stringify(expected)) {
          wrong.push({ address: textOf(point), got, expected })
        }
      }
      expect({ wrong: wrong.length, shown: wrong.slice(0, 3) }).toEqual({ wrong: 0, shown: [] })
      expect(counts.compared).toBeGreaterThan(4000)
      expect(counts.lapsed).toBeGreaterThan(1000)
      expect(counts.severalDays).toBeGreaterThan(100)
    })

    it('and the proxy object of each answer says it of its kind', () => {
      const subject = subjectOf(table)
      const wrong: unknown[] = []
      let compared = 0
      for (const point of points) {
        const answer = table.check(textOf(point))!
        const kind = signalKinds.find((name) => answer.signals[name])
        // On a relay some evidence does not count, by rule 7.
        if (kind === undefined || answer.proxy === null || answer.signals.relay) continue
        const atHome = subject.find(point).network?.access === true
        const kindOf = (feed: FeedDays): string =>
          feed.kind === 'residential_proxy' && !atHome ? 'proxy' : feed.kind
        const said = feeds
          .filter((feed) => kindOf(feed) === kind)
          .map((feed) => expectedOf(feed, point))
          .filter((one) => one !== undefined)
        const shares = said
          .filter(({ feed }) => catalogued(feed)?.rolling !== true)
          .map((one) => one.days_seen / Math.max(7, one.days_observed))
        const expected = {
          last_seen_at: said
            .map(({ last_seen }) => last_seen)
            .sort()
            .at(-1),
          percent_days_seen: Math.round(Math.max(0, ...shares) * 10_000) / 100,
        }
        const { last_seen_at, percent_days_seen } = answer.proxy
        compared++
        if (JSON.stringify({ last_seen_at, percent_days_seen }) !== JSON.stringify(expected)) {
          wrong.push({ address: textOf(point), kind, proxy: answer.proxy, expected, said })
        }
      }
      expect({ wrong: wrong.length, shown: wrong.slice(0, 3) }).toEqual({ wrong: 0, shown: [] })
      expect(compared).toBeGreaterThan(1000)
    })
  })
}

/** Listed addresses of every feed in equal parts, of whatever day; a random one of each range. */
function sample(feeds: readonly FeedDays[]): readonly Point[] {
  const random = newRandom(20260822)
  const points = new Set<Point>()
  const lists = feeds.map(({ listings }) => listings)
  for (let turn = 0; points.size < asked; turn++) {
    const list = lists[turn % lists.length]!
    const { first, last } = list[Math.floor(random() * list.length)]!
    if (typeof first === 'number') {
      points.add(first + Math.floor(random() * (Number(last) - first + 1)))
    } else {
      points.add(first + (BigInt(Math.floor(random() * 2 ** 32)) % ((last as bigint) - first + 1n)))
    }
  }
  return [...points]
}
