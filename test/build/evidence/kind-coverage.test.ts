// Which kinds the feeds of a build cover: a table of feeds by kind, age and size.

import { describe, expect, it } from 'vitest'
import { crawlersFile } from '../../../build/evidence/builtin-feeds.ts'
import {
  coverageByKind,
  feedContents,
  newestDays,
  tableCoverage,
} from '../../../build/evidence/kind-coverage.ts'
import type { ParsedSnapshot } from '../../../build/evidence/read-snapshots.ts'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { loadNetworkTables } from '../../../build/networks/network-tables.ts'
import { newParseCounts } from '../../../build/parse/parse-counts.ts'
import type { Day } from '../../../src/base/day.ts'
import { coveredKinds, freshDaysMax } from '../../../src/model/coverage.ts'
import { kinds } from '../../../src/model/kind.ts'

const asOf = 20_000 as Day
const ago = (days: number): Day => (asOf - days) as Day

/** One file of a feed that holds `entries` entries. */
function file(feed: Partial<Feed>, day: Day, entries = 10): ParsedSnapshot {
  const whole = { id: 'x', kind: 'tor', files: [{}], ...feed } as Feed
  return {
    feed: whole,
    tally: newParseCounts('x'),
    entries: Array.from({ length: entries }, (_, i) => ({ text: `9.0.0.${i}`, place: '' })),
    day,
    problem: undefined,
  }
}

describe('a kind', () => {
  const states: readonly (readonly [
    name: string,
    feeds: readonly (readonly [kind: Feed['kind'], age: number, size: number, usual: number])[],
    expected: string,
  ])[] = [
    ['is missing without feeds', [], 'missing'],
    ['is missing where feeds are of another kind', [['vpn', 0, 10, 10]], 'missing'],
    ['is covered by a feed that is younger than its limit', [['tor', 2, 10, 10]], 'full'],
    ['is missing where its feed is as old as the limit', [['tor', 3, 10, 10]], 'missing'],
    [
      'is covered by one fresh feed beside an old one',
      [
        ['tor', 9, 9, 9],
        ['tor', 0, 9, 9],
      ],
      'full',
    ],
    ['is covered by a feed with half of what it usually has', [['tor', 0, 5, 10]], 'full'],
    ['is covered partly by one with less', [['tor', 0, 4, 10]], 'partly'],
    [
      'is not made whole by a feed that grew',
      [
        ['tor', 0, 1, 10],
        ['tor', 0, 90, 5],
      ],
      'partly',
    ],
    ['is covered by feeds of which nobody knows what is usual', [['tor', 0, 1, 0]], 'full'],
  ]
  it.each(states)('%s', (_name, feeds, expected) => {
    const contents = feeds.map(([kind, age, size, usual]) => ({ kind, day: ago(age), size, usual }))
    expect(coverageByKind(contents, asOf).tor.state).toBe(expected)
  })

  it('has the limits of the contract, each to the day', () => {
    expect(freshDaysMax).toMatchObject({ tor: 3, proxy: 7, residential_proxy: 7, vpn: 45 })
    for (const kind of coveredKinds) {
      const at = (age: number) =>
        coverageByKind([{ kind, day: ago(age), size: 1, usual: 1 }], asOf)[kind].state
      expect([at(freshDaysMax[kind] - 1), at(freshDaysMax[kind])]).toEqual(['full', 'missing'])
    }
  })

  it('has the newest day of its feeds, never after the table’s, and none without feeds', () => {
    const contents = [ago(9), ago(5)].map((day) => ({
      kind: 'vpn' as const,
      day,
      size: 1,
      usual: 1,
    }))
    const later = [{ kind: 'bot' as const, day: ago(-20), size: 1, usual: 1 }]
    const found = coverageByKind([...contents, ...later], asOf)
    expect([found.vpn.newest, found.bot.newest, found.tor.newest]).toEqual([
      ago(5),
      asOf,
      undefined,
    ])
  })
})

describe('what feeds hold', () => {
  it('is of fetched feeds that gave something, by the newest of their files', () => {
    const two = { id: 'two', files: [{}, {}] } as unknown as Partial<Feed>
    const feed = file(two, ago(4)).feed
    const files = [
      { ...file({}, ago(4)), feed },
      { ...file({}, ago(1)), feed },
      file({ id: 'empty' }, asOf, 0),
      { ...file({ id: 'broken' }, asOf), problem: 'it is a page' },
      crawlersFile(loadNetworkTables()),
    ]
    const held = new Map([['two', { size: 7, usual: undefined }]])
    expect(feedContents(files, held)).toEqual([{ kind: 'tor', day: ago(1), size: 7, usual: 0 }])
  })

  it('is measured by its last snapshots, else by the catalogue', () => {
    const feed = { id: 'x', usual_entries: 100 } as Partial<Feed>
    const usualOf = (usual: number | undefined) =>
      feedContents([file(feed, asOf)], new Map([['x', { size: 10, usual }]]))[0]?.usual
    expect([usualOf(undefined), usualOf(30)]).toEqual([100, 30])
  })
})

describe('a table', () => {
  const addresses = Object.fromEntries(kinds.map((kind) => [kind, 0])) as never

  it('covers partly what it has by hand alone', () => {
    const nothing = coverageByKind([], asOf)
    const files = [crawlersFile(loadNetworkTables())]
    const states = tableCoverage(nothing, { files, addresses }).map(({ state }) => state)
    expect(Object.fromEntries(coveredKinds.map((kind, at) => [kind, states[at]]))).toEqual({
      tor: 'missing',
      vpn: 'missing',
      proxy: 'missing',
      residential_proxy: 'missing',
      hosting: 'partly',
      bot: 'partly',
      blocklist: 'missing',
    })
  })

  it('counts as newest what its feeds said since the oldest of their files', () => {
    const files = [
      { read: file({}, ago(3)), source: 4 },
      { read: file({}, ago(-9)), source: 4 },
      { read: file({ files: [] }, asOf), source: 5 },
    ]
    expect([...newestDays(files, asOf)]).toEqual([[4, ago(3)]])
  })
})
