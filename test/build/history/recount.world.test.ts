// When an address was seen, in a finished table built over the sixty real days, against a plain
// recount of the text files: listed addresses of every feed, each feed's evidence and the answer's
// own proxy object (contract 3.5).

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CheckAnswer } from '../../../src/api/check-answer.ts'
import { memoise } from '../../../src/base/memoise.ts'
import { type ExplainedAnswer, answerWithInsights } from '../../../src/table/explain/insights.ts'
import { type OpenTable, openTable } from '../../../src/table/open-table.ts'
import { describeFeeds, feedsFolder } from '../../feeds.ts'
import { type Point, textOf } from '../../oracle/address.ts'
import { type FeedDays, dayNumber, listedDays, readDays } from '../../oracle/days.ts'
import { newRandom } from '../../oracle/sample.ts'
import { subjectOf } from '../../oracle/table.ts'
import { type WorldDay, historyTable, worldDaysFolder } from '../../world/world-tables.ts'

const asked = 900

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

/** Evidence of servers that were measured to stay counts for three half-lives, other for 90 days. */
const daysKept = (halfLife: number): number => (halfLife > 90 ? Math.round(halfLife * 3) : 90)

/** Of Tor exits that left some come back: from day 3 on what is left halves every 9 days. */
const strengthLeft = (kind: string, age: number, halfLife: number): number =>
  kind === 'tor' && age > 3 ? 0.5 ** (3 + (age - 3) / 9) : 0.5 ** (age / halfLife)

function halfLifeOf({ id, kind }: FeedDays): number {
  const measured = Object.values(catalogued(id)?.half_life_days ?? {})
  return measured.length === 0 ? halfLives[kind]! : Math.max(...measured)
}

/** What a feed says by its files, of an address that it listed on the days `on`. */
function recount(feed: FeedDays, on: readonly number[], today: number): Said | undefined {
  const [first, last] = [on.at(0), on.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const halfLife = halfLifeOf(feed)
  const age = today - last
  const isListed = last === Math.max(...feed.days)
  // Of what is no longer listed nothing is said when it has faded away or is too old.
  if (!isListed && (strengthLeft(feed.kind, age, halfLife) < 0.005 || age > daysKept(halfLife))) {
    return undefined
  }
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

/** Of which kind the proxy object speaks; what is inferred stands behind what is listed. */
const signalKinds = ['tor', 'residential_proxy', 'vpn', 'proxy'] as const
const signalKindsInferred = ['tor', 'residential_proxy', 'proxy', 'vpn'] as const

interface Catalogued {
  readonly rolling: boolean
  readonly half_life_days?: Readonly<Record<string, number>>
}

function readCatalogued(id: string): Catalogued | undefined {
  // A table that is kept by hand is in no catalogue, nor is what is inferred.
  if (/^(?:table|inferred)-/.test(id)) return undefined
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
      const inAccess = (point: Point): boolean => subject.find(point).network?.access === true
      feeds = readDays(worldDaysFolder, day, inAccess)
      points = sample(feeds.filter(({ days }) => days.size > 1))
      const listed = new Map(feeds.map((feed) => [feed, listedDays(feed, points)]))
      expectedOf = (feed, point) => {
        const on = [...(listed.get(feed)?.get(point) ?? [])].sort((a, b) => a - b)
        return recount(feed, on, today)
      }
    })
    afterAll(() => table.close())

    it('takes every feed that has a history', () => {
      const index = readFileSync(join(feedsFolder, 'history.json'), 'utf8')
      const ids = Object.keys(JSON.parse(index) as Record<string, unknown>)
      const withDays = feeds.filter(({ days }) => days.size > 1).map(({ id }) => id)
      expect(withDays.sort()).toEqual(ids.sort())
    })

    it('says of each listed address what the files of every feed say', () => {
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
      expect(counts.compared).toBeGreaterThan(300)
      expect(counts.lapsed).toBeGreaterThan(75)
      expect(counts.severalDays).toBeGreaterThan(7)
    })

    it('and the proxy object of each answer says it of its kind', () => {
      const subject = subjectOf(table)
      const wrong: unknown[] = []
      let compared = 0
      let inferredCount = 0
      // What a feed lists still, but by its own word of too long ago, is shown and does not count.
      const counts = ({ feed: id, last_seen }: Said): boolean => {
        const feed = feeds.find((one) => one.id === id)!
        return today - dayNumber(last_seen) <= daysKept(halfLifeOf(feed))
      }
      /** What the servers around an address say of it, which the oracle recounts. */
      const inferred = ({ ip }: CheckAnswer): readonly Said[] => {
        inferredCount++
        const { evidence } = answerWithInsights({ ...table, builtMs: 0 }, ip)!.insights
        return evidence.filter(({ feed }) => feed === 'inferred-vpn')
      }
      for (const point of points) {
        const answer = table.check(textOf(point))!
        const isInferred = answer.reasons.includes('vpn_inferred')
        const ranked = isInferred ? signalKindsInferred : signalKinds
        const kind = ranked.find((name) => answer.signals[name])
        // On a relay some evidence does not count, by rule 7.
        if (kind === undefined || answer.proxy === null || answer.signals.relay) continue
        const atHome = subject.find(point).network?.access === true
        const kindOf = (feed: FeedDays): string =>
          feed.kind === 'residential_proxy' && !atHome ? 'proxy' : feed.kind
        const said = [
          ...feeds
            .filter((feed) => kindOf(feed) === kind)
            .map((feed) => expectedOf(feed, point))
            .filter((one) => one !== undefined)
            .filter(counts),
          ...(kind === 'vpn' && isInferred ? inferred(answer) : []),
        ]
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
      expect(compared).toBeGreaterThan(175)
      // Few: most addresses that are asked are listed themselves.
      expect(inferredCount).toBeGreaterThan(2)
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
