// What becomes of an entry: taken as what, or refused as what.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { newEvidenceBook } from '../../../build/evidence/evidence-book.ts'
import {
  type NormaliseContext,
  newNormaliser,
  parseAsn,
} from '../../../build/evidence/normalise.ts'
import type { FeedHistory } from '../../../build/history/read-history.ts'
import { newParseCounts } from '../../../build/parse/parse-counts.ts'
import { type Day, parseDay } from '../../../src/base/day.ts'
import { type Range, formatRange, parseRange } from '../../../src/ip/range.ts'

const asOf = parseDay('2026-08-22') as Day

function feedOf(own: Partial<Feed>): Feed {
  return {
    id: 'test-feed',
    title: 'Test',
    kind: 'vpn',
    provider: 'Example VPN',
    group: 'test',
    weight: 0.5,
    assurance: 'good',
    rolling: false,
    enabled: true,
    licence: 'CC0-1.0',
    homepage: 'https://example.com/',
    cadence: 'daily',
    asns: [],
    widest: { ipv4: 16, ipv6: 32 },
    files: [],
    ...own,
  }
}

/** 2a00::/16 and 9.0.0.0/8 are access networks. */
function groundOf(): NormaliseContext {
  return {
    asOf,
    book: newEvidenceBook(),
    observations: { 4: [], 6: [] },
    resolvers: { 4: [parseRange('9.9.9.0/24') as Range], 6: [] },
    inAccess: (family, words) =>
      words[0]! >>> (family === 4 ? 24 : 16) === (family === 4 ? 9 : 0x2a00),
  }
}

function take(
  texts: readonly string[],
  feed: Partial<Feed> = {},
  day = asOf,
  history?: FeedHistory,
) {
  const ground = groundOf()
  const normaliser = newNormaliser(feedOf(feed), { source: 3, history }, ground)
  const tally = newParseCounts('test.txt')
  const counts = { kept: 0, duplicate: 0, dropped: 0 }
  texts.forEach((text, index) => {
    counts[normaliser.addEntry({ text, place: `line ${index + 1}` }, day, tally)]++
  })
  const { lapsed } = normaliser.finish()
  const statements = Array.from({ length: ground.book.count }, (_, index) =>
    ground.book.at(index + 1),
  )
  return { ground, tally, counts, lapsed, statements }
}

const taken = (text: string, feed: Partial<Feed> = {}): string => {
  const { statements, tally } = take([text], feed)
  const one = statements[0]
  if (one?.range === undefined) return [...tally.drops.keys()].join()
  return `${formatRange(one.range)} ${one.evidence.match}`
}

describe('an entry', () => {
  it.each([
    ['9.1.2.3', '9.1.2.3 exact'],
    ['9.1.2.3/32', '9.1.2.3 exact'],
    ['9.1.2.3/24', '9.1.2.0/24 range'],
    ['9.1.2.0-9.1.2.9', '9.1.2.0-9.1.2.9 range'],
    ['::ffff:9.1.2.3', '9.1.2.3 exact'],
    ['2a01:4f8::1', '2a01:4f8::1 exact'],
    ['2a01:4f8::/64', '2a01:4f8::/64 range'],
    ['2a00:1:2:3::5', '2a00:1:2:3::/64 exact'],
    ['2a00:1:2:3::/80', '2a00:1:2:3::/64 exact'],
    ['2a00:1:2:3::/64', '2a00:1:2:3::/64 exact'],
    ['2a00:1:2::/48', '2a00:1:2::/48 range'],
    ['010.0.0.1', 'no address, prefix or range'],
    ['hello', 'no address, prefix or range'],
    ['9.1.2.3/33', 'no address, prefix or range'],
    ['9.1.2.9-9.1.2.1', 'no address, prefix or range'],
    ['0.0.0.0/0', 'wider than /16'],
    ['9.0.0.0/15', 'wider than /16'],
    ['::/0', 'wider than /32'],
    ['10.1.2.3', 'special-purpose address space'],
    ['192.168.0.0/16', 'special-purpose address space'],
    ['127.0.0.1', 'special-purpose address space'],
    ['fe80::1', 'special-purpose address space'],
    ['2001:db8::1', 'special-purpose address space'],
    ['AS0', 'not an ASN'],
    ['AS4294967296', 'not an ASN'],
  ])('%s is %s', (text, expected) => {
    expect(taken(text)).toBe(expected)
  })

  it.each(['tor', 'hosting', 'bot', 'relay'] as const)(
    'of kind %s names only the IPv6 address itself, in access networks too',
    (kind) => {
      expect(taken('2a00:1:2:3::5', { kind })).toBe('2a00:1:2:3::5 exact')
    },
  )

  it('of a feed of networks is taken and says nothing of an address', () => {
    const { counts, statements } = take(['9.1.2.0/24', 'AS100', '0.0.0.0/0'], { kind: 'network' })
    expect(counts).toEqual({ kept: 2, duplicate: 0, dropped: 1 })
    expect(statements).toEqual([])
  })

  it('is named with file and place where it is bad, and the rest goes on', () => {
    const { tally, counts, ground } = take(['9.1.1.1', 'nonsense', '9.1.1.2', '10.0.0.1'])
    expect(tally.bad).toEqual([
      'test.txt:line 2: no address, prefix or range: nonsense',
      'test.txt:line 4: special-purpose address space: 10.0.0.1',
    ])
    expect(counts).toEqual({ kept: 2, duplicate: 0, dropped: 2 })
    expect(ground.observations[4]).toHaveLength(2)
  })

  it('of a bot does not speak of a public resolver inside it', () => {
    const held = (kind: 'bot' | 'vpn') =>
      take(['9.9.0.0/16'], { kind }).ground.observations[4].map(({ first, last }) =>
        formatRange({ family: 4, first, last }),
      )
    expect(held('bot')).toEqual(['9.9.0.0-9.9.8.255', '9.9.10.0-9.9.255.255'])
    expect(held('vpn')).toEqual(['9.9.0.0/16'])
  })

  it('said twice is one statement', () => {
    const { counts, ground } = take(['9.1.1.1', '9.1.1.1/32', '9.1.1.1-9.1.1.1'])
    expect(counts).toEqual({ kept: 1, duplicate: 2, dropped: 0 })
    expect(ground.observations[4]).toHaveLength(1)
  })

  it('about an AS is counted, and no observation', () => {
    const { counts, ground } = take(['AS64496', 'AS64497'], { kind: 'hosting' })
    expect(counts.kept).toBe(2)
    expect([...ground.observations[4], ...ground.observations[6]]).toEqual([])
  })
})

describe('its evidence', () => {
  it('is of the snapshot day, one day seen of one', () => {
    const day = (asOf - 5) as Day
    expect(take(['9.1.1.1'], {}, day).statements[0]).toMatchObject({
      source: 3,
      evidence: {
        kind: 'vpn',
        provider: 'Example VPN',
        lists: 1,
        firstSeen: day,
        lastSeen: day,
        daysListed: 1,
        daysObserved: 1,
        voice: { id: 'test-feed', group: 'test', weight: 0.5, assurance: 'good' },
      },
    })
  })

  it('of a later snapshot is clamped to the day that counts as today', () => {
    const { statements } = take(['9.1.1.1'], {}, (asOf + 24) as Day)
    expect(statements[0]?.evidence.lastSeen).toBe(asOf)
  })

  it('of a snapshot outside the last 30 days counts for no day of them', () => {
    const { statements } = take(['9.1.1.1'], {}, (asOf - 30) as Day)
    expect(statements[0]?.evidence).toMatchObject({ daysListed: 0, daysObserved: 0 })
    const { statements: newer } = take(['9.1.1.1'], {}, (asOf - 29) as Day)
    expect(newer[0]?.evidence).toMatchObject({ daysListed: 1, daysObserved: 1 })
  })

  it('of a bot that is no crawler has no category', () => {
    expect(
      take(['9.1.1.1'], { kind: 'bot', category: 'other' }).statements[0]?.evidence.category,
    ).toBe(undefined)
    expect(
      take(['9.1.1.1'], { kind: 'bot', category: 'ai_tool' }).statements[0]?.evidence.category,
    ).toBe('ai_tool')
  })
})

describe('many entries', () => {
  const texts = ['9.1.1.1', '9.1.1.2', '9.1.1.0/24', '2a00:1:2:3::5', '2a00:1:2:3::6']
  const ranges = ['9.1.1.1', '9.1.1.2', '9.1.1.0/24', '2a00:1:2:3::/64', '2a00:1:2:3::/64']
  const optional = <T>(...values: readonly T[]) => fc.constantFrom(undefined, ...values)
  interface Spoken {
    readonly at: number
    readonly age: number
    readonly provider: string | undefined
    readonly lists: number | undefined
  }
  const spoken: fc.Arbitrary<Spoken> = fc.record({
    at: fc.nat({ max: texts.length - 1 }),
    age: fc.nat({ max: 2 }),
    provider: optional('', 'A', ' A ', 'B'),
    lists: optional(1, 2, 7),
  })

  /** The twin: what is said of a range, by all that is told apart, in order of appearance. */
  function plainly(feed: Feed, all: readonly Spoken[]) {
    const said = new Map<
      string,
      { range: string; provider: string; lists: number; days: number[] }
    >()
    for (const { at, age, provider, lists = 1 } of all) {
      const key = JSON.stringify([ranges[at], provider ?? '', lists])
      const known = said.get(key)
      const named = (provider ?? feed.provider).trim()
      if (known !== undefined) known.days.push(age)
      else said.set(key, { range: ranges[at] as string, provider: named, lists, days: [age] })
    }
    const statements = [...said.values()].map(({ range, provider, lists, days }) => ({
      voice: feed.id,
      range,
      match: range.endsWith('/24') ? 'range' : 'exact',
      provider,
      lists,
      firstSeen: asOf - Math.max(...days),
      lastSeen: asOf - Math.min(...days),
      daysListed: new Set(days).size,
    }))
    // Two spellings of a provider may end as one and the same word.
    return [...new Map(statements.map((one) => [JSON.stringify(one), one])).values()]
  }

  it('of several feeds in turn say what a plain list of them says', () => {
    fc.assert(
      fc.property(fc.array(fc.array(spoken, { maxLength: 25 }), { maxLength: 4 }), (byFeed) => {
        const ground = groundOf()
        const expected = byFeed.flatMap((all, index) => {
          const feed = feedOf({ id: `feed-${index}` })
          const normaliser = newNormaliser(feed, { source: index, history: undefined }, ground)
          for (const { at, age, provider, lists } of all) {
            const details = {
              ...(provider === undefined ? {} : { provider }),
              ...(lists === undefined ? {} : { lists }),
            }
            const entry = { text: texts[at] as string, place: 'line 1', ...details }
            normaliser.addEntry(entry, (asOf - age) as Day, newParseCounts('test.txt'))
          }
          normaliser.finish()
          return plainly(feed, all)
        })
        const { book } = ground
        const made = Array.from({ length: book.count }, (_, index) => book.at(index + 1))
        expect(
          made.map(({ range, evidence }) => {
            const { voice, match, provider, lists, firstSeen, lastSeen, daysListed } = evidence
            const said = { match, provider, lists, firstSeen, lastSeen, daysListed }
            return { voice: voice.id, range: formatRange(range as Range), ...said }
          }),
        ).toEqual(expected)
      }),
    )
  })
})

describe('with a history', () => {
  /** Ranges by text: how many days ago they were first and last seen, and the mask of days. */
  function historyOf(
    known: Readonly<Record<string, readonly [number, number, number]>>,
    days: readonly Day[] = [asOf],
  ): FeedHistory {
    const rest = new Map(Object.entries(known))
    const seenOf = ([first, last, listed]: readonly [number, number, number]) => ({
      firstSeen: (asOf - first) as Day,
      lastSeen: (asOf - last) as Day,
      listed,
    })
    const none = { lists: undefined, provider: undefined, category: undefined }
    return {
      days,
      daysObserved: 28,
      count: rest.size,
      markListed(range) {
        const found = rest.get(formatRange(range))
        rest.delete(formatRange(range))
        return found === undefined ? undefined : seenOf(found)
      },
      *lapsed() {
        for (const [text, seen] of rest) {
          yield { range: parseRange(text) as Range, seen: seenOf(seen), details: none }
        }
      },
    }
  }

  it('knows since when and how often', () => {
    const { statements } = take(['9.1.1.1'], {}, asOf, historyOf({ '9.1.1.1': [50, 0, 0b1011] }))
    expect(statements.map(({ evidence }) => evidence)).toMatchObject([
      { firstSeen: asOf - 50, lastSeen: asOf, daysListed: 3, daysObserved: 28 },
    ])
  })

  it('counts a snapshot of a later day as one of today, whatever the history knows', () => {
    const known = { '9.1.1.1': [50, 3, 0b1000] } as const
    const tomorrow = (asOf + 1) as Day
    const evidenceOf = (...days: readonly number[]) => {
      const history = historyOf(known, days as Day[])
      return take(['9.1.1.1'], {}, tomorrow, history).statements[0]?.evidence
    }
    const listed = { firstSeen: asOf - 50, lastSeen: asOf, daysListed: 2 }
    // The day counts once: the history may have a snapshot of today itself.
    expect(evidenceOf(asOf - 3)).toMatchObject({ ...listed, daysObserved: 29 })
    expect(evidenceOf(asOf - 3, asOf)).toMatchObject({ ...listed, daysObserved: 28 })
  })

  it('keeps what is no longer listed, by its last day', () => {
    const history = historyOf({ '9.1.1.1': [50, 0, 1], '9.1.1.2': [60, 12, 0b11 << 12] })
    const { statements, lapsed, counts } = take(['9.1.1.1'], {}, asOf, history)
    expect([lapsed, counts.kept]).toEqual([1, 1])
    expect(statements.map(({ evidence }) => [evidence.lastSeen, evidence.daysListed])).toEqual([
      [asOf, 1],
      [asOf - 12, 2],
    ])
  })

  it('lets go of what has faded away', () => {
    const history = historyOf({ '9.1.1.2': [60, 50, 0] })
    expect(take([], { kind: 'tor' }, asOf, history).lapsed).toBe(0)
    const slower = historyOf({ '9.1.1.2': [60, 50, 0] })
    expect(take([], { kind: 'vpn' }, asOf, slower).lapsed).toBe(1)
  })

  it("folds the days of two addresses on one customer's line", () => {
    const history = historyOf({
      '2a00:1:2:3::5': [9, 0, 0b101],
      '2a00:1:2:3::6': [20, 1, 0b110],
    })
    const { statements } = take(['2a00:1:2:3::5'], {}, asOf, history)
    expect(statements).toHaveLength(1)
    expect(statements[0]?.evidence).toMatchObject({
      match: 'exact',
      firstSeen: asOf - 20,
      lastSeen: asOf,
      daysListed: 3,
    })
  })
})

describe('parseAsn', () => {
  it.each([
    ['AS1', 1],
    ['as64496', 64496],
    ['AS4294967295', 4294967295],
    ['AS0', undefined],
    ['AS4294967296', undefined],
    ['64496', undefined],
    ['AS1.5', undefined],
    ['AS 1', undefined],
  ])('%s', (text, asn) => {
    expect(parseAsn(text)).toBe(asn)
  })
})
