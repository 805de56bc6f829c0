// The tally against a plain recount, address by address; what contradicts what; leaving out against
// a world that was made without.

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Feed } from '../../../../build/catalogue/feed.ts'
import {
  noFeedTally,
  tallyAsFeeds,
  tallyFeeds,
} from '../../../../bench/detection/calibration/feed-tally.ts'
import { leaveOneOut } from '../../../../bench/detection/evaluation/leave-one-out.ts'
import { spaceSize } from '../../../../bench/detection/world/address-count.ts'
import { newCellJudge } from '../../../../bench/detection/world/cell-verdicts.ts'
import { rangeSize } from '../../../../bench/detection/world/address-count.ts'
import { accessSpace } from '../../../../bench/detection/world/address-space.ts'
import type { Range } from '../../../../src/ip/range.ts'
import { formatRange, parseRange } from '../../../../src/ip/range.ts'
import { facts, feedOf, fileOf, worldOf } from '../detection-sample.ts'

const feeds: readonly Feed[] = [
  feedOf({ id: 'vpn-a', kind: 'vpn', group: 'x' }),
  feedOf({ id: 'vpn-b', kind: 'vpn', group: 'x' }),
  feedOf({ id: 'vpn-c', kind: 'vpn' }),
  feedOf({ id: 'proxy-d', kind: 'proxy' }),
]

/** Prefixes of 1 to 16 addresses at the border of two networks. */
const anyRange = fc
  .tuple(fc.constantFrom(20, 21), fc.nat(15), fc.constantFrom(0, 1, 2, 4))
  .map(([net, low, bits]) =>
    formatRange(parseRange(`${net}.0.0.${(low >> bits) << bits}/${32 - bits}`) as Range),
  )
const anyListing = fc.uniqueArray(anyRange, { maxLength: 12 })

describe('tallyFeeds', () => {
  it('equals a recount of every address', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyListing, { minLength: 4, maxLength: 4 }), async (listings) => {
        const world = await worldOf(feeds.map((feed, at) => fileOf(feed, listings[at] ?? [])))
        const tallies = tallyFeeds(world)
        feeds.forEach((feed, at) => {
          const recounted = recount(feed, listings[at] ?? [], listings)
          // A feed that lists nothing has no tally.
          const tally = tallies.get(feed.id) ?? noFeedTally
          for (const what of ['entries', 'unique', 'confirmed', 'contradicted'] as const) {
            expect(tally[what]).toBeCloseTo(recounted[what], 9)
          }
        })
      }),
      { numRuns: 8 },
    )
  })

  it('takes what an aggregate says of whole networks for no confirmation of its addresses', async () => {
    const networks = { group: 'vpn-e-networks', weight: 0.8 }
    const aggregate = feedOf({ id: 'vpn-e', kind: 'vpn', networks })
    const listed = ['21.0.0.1', '21.0.0.0/24', '21.0.9.1']
    const world = await worldOf([fileOf(aggregate, listed), fileOf(feeds[2]!, ['21.0.0.9'])])
    const tallies = tallyFeeds(world)
    expect(tallies.get('vpn-e')).toMatchObject({ entries: 2, confirmed: 0 })
    expect(tallies.get('vpn-e-networks')?.confirmed).toBeCloseTo(1 / 256, 12)
    expect(tallies.get('vpn-c')).toMatchObject({ entries: 1, confirmed: 1 })
  })

  it('counts as chance what the other groups of the kind cover of the announced space', async () => {
    const world = await worldOf([
      fileOf(feeds[0]!, ['21.0.0.1']),
      fileOf(feeds[1]!, ['20.0.0.0/16']),
      fileOf(feeds[2]!, ['22.0.0.0/17']),
    ])
    const announced = 3 * 65_536
    expect(tallyFeeds(world).get('vpn-a')?.chance).toBeCloseTo(32_768 / announced, 12)
    expect(tallyFeeds(world).get('vpn-c')?.chance).toBeCloseTo(65_537 / announced, 12)
  })

  it('tells what the model settles from what it does not', async () => {
    const world = await worldOf([
      fileOf(feedOf({ id: 'relay', kind: 'relay', assurance: 'direct' }), ['21.0.1.0/24']),
      fileOf(feedOf({ id: 'vpn', kind: 'vpn' }), ['20.0.0.1', '21.0.1.1', '21.0.2.1']),
      fileOf(feedOf({ id: 'hosting-good', kind: 'hosting' }), ['20.0.4.0/24', '21.0.0.0/24']),
      fileOf(feedOf({ id: 'hosting-weak', kind: 'hosting', assurance: 'weak' }), ['20.0.5.0/24']),
      fileOf(feedOf({ id: 'residential', kind: 'residential_proxy' }), ['20.0.6.1', '21.0.6.1']),
      fileOf(
        feedOf({
          id: 'bot-own',
          kind: 'bot',
          assurance: 'direct',
          provider: 'Bot',
          category: 'ai_tool',
        }),
        ['21.0.7.0/24'],
      ),
      fileOf(feedOf({ id: 'bot-other', kind: 'bot', provider: 'Bot', category: 'ai_tool' }), [
        '21.0.8.0/24',
        '22.0.8.0/24',
      ]),
    ])
    const tallies = tallyFeeds(world)
    const of = (id: string) => [tallies.get(id)?.contradicted, tallies.get(id)?.settled]
    expect(of('vpn')).toEqual([1, 1])
    expect(of('hosting-good')).toEqual([1, 0])
    expect(of('hosting-weak')).toEqual([0, 1])
    expect(of('residential')).toEqual([0, 1])
    expect(of('bot-own')).toEqual([0, 0])
    expect(of('bot-other')).toEqual([1, 0])
  })
})

describe('a world', () => {
  it('has cells that add up to the whole space', async () => {
    const world = await worldOf([fileOf(feeds[0]!, ['20.0.0.0/30', '2a00::1'])])
    for (const family of [4, 6] as const) {
      const cells = world.cells.filter((cell) => cell.family === family)
      expect(cells.reduce((sum, { size }) => sum + size, 0)).toBe(spaceSize[family])
    }
  })

  it('has false alarms by size', async () => {
    const world = await worldOf([
      fileOf(feedOf({ id: 'tor', kind: 'tor', weight: 1, assurance: 'direct' }), [
        '20.0.0.0/30',
        '21.0.0.0/24',
      ]),
    ])
    const judge = newCellJudge(world)
    const pieces = world.cells.map((cell) => ({
      ...cell,
      network: world.networks[cell.network - 1],
      score: judge(cell).score,
    }))
    expect(accessSpace(pieces)[4]).toEqual({ total: 65_536, fromAsk: 4, fromBlock: 4 })
  })
})

describe('leaveOneOut', () => {
  it('says what a world without the feed, and without its group, says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyListing, { minLength: 4, maxLength: 4 }), async (listings) => {
        const files = feeds.map((feed, at) => fileOf(feed, listings[at] ?? []))
        const rows = leaveOneOut(await worldOf(files))
        for (const { feed, entries, withoutFeed, withoutGroup } of rows) {
          const at = feeds.findIndex(({ id }) => id === feed)
          const { group } = feeds[at]!
          const without = await worldOf(files.filter((file) => file.feed.id !== feed))
          const withoutKin = await worldOf(files.filter((file) => file.feed.group !== group))
          expect(entries).toBe(listings[at]?.length)
          const kind = feeds[at]!.kind === 'vpn' ? 'vpn' : 'proxy'
          expect(withoutFeed.signal.share).toBeCloseTo(shareOf(without, listings[at]!, kind), 9)
          expect(withoutGroup.signal.share).toBeCloseTo(shareOf(withoutKin, listings[at]!, kind), 9)
        }
      }),
      { numRuns: 8 },
    )
  })

  it('leaves out what the group says of ASes, too', async () => {
    const feed = feedOf({ id: 'hosting-x4b-datacenter', kind: 'hosting', group: 'bad-asn-list' })
    const [row] = leaveOneOut(await worldOf([fileOf(feed, ['21.0.0.0/24'])]))
    expect(row?.withoutFeed.signal.share).toBe(1)
    expect(row?.withoutGroup.signal.share).toBe(0)
  })
})

describe('tallyAsFeeds', () => {
  it('counts ASes that a voice calls a hoster, and who agrees', async () => {
    expect(facts).toHaveLength(3)
    const tallies = tallyAsFeeds(await worldOf([]))
    expect(tallies.get('hosting-asn-x4b')).toMatchObject({
      entries: 2,
      unique: 1,
      confirmed: 1,
      contradicted: 0,
    })
    expect(tallies.get('asn-peeringdb-classes')).toMatchObject({ entries: 1, confirmed: 1 })
    expect(tallies.get('hosting-asn-x4b')?.chance).toBeCloseTo(1 / 3, 12)
  })
})

function addressesOf(text: string): bigint[] {
  const { first, last } = parseRange(text) as Range
  return Array.from({ length: Number(last - first) + 1 }, (_, at) => first + BigInt(at))
}

function recount(feed: Feed, listing: readonly string[], listings: readonly (readonly string[])[]) {
  const sum = { entries: 0, unique: 0, confirmed: 0, contradicted: 0 }
  for (const text of listing) {
    const addresses = addressesOf(text)
    for (const address of addresses) {
      const part = 1 / addresses.length
      const others = feeds.filter(
        (other, at) =>
          other.id !== feed.id &&
          other.kind === feed.kind &&
          (listings[at] ?? []).some((one) => addressesOf(one).includes(address)),
      )
      sum.entries += part
      if (others.length === 0) sum.unique += part
      if (others.some(({ group }) => group !== feed.group)) sum.confirmed += part
      if (feed.kind === 'vpn' && address >> 24n === 20n) sum.contradicted += part
    }
  }
  return sum
}

/** Of the entries of a listing the share with the signal, entry by entry and cell by cell. */
function shareOf(
  world: Awaited<ReturnType<typeof worldOf>>,
  listing: readonly string[],
  kind: 'vpn' | 'proxy',
): number {
  const judge = newCellJudge(world)
  let found = 0
  for (const text of listing) {
    const range = parseRange(text) as Range
    for (const address of addressesOf(text)) {
      const network = Number(address >> 24n) === 20 ? 64_496 : 64_497
      const ids = new Map<number, number>()
      for (let id = 1; id <= world.book.count; id++) {
        const said = world.book.at(id).range
        if (said !== undefined && said.first <= address && address <= said.last) ids.set(id, id)
      }
      const list = world.lists.lists.findIndex((each) => each.join() === [...ids.keys()].join()) + 1
      const at = world.networks.findIndex(({ asn }) => asn === network) + 1
      const { signals } = judge({ family: 4, network: at, list, size: 1 })
      if (signals[kind]) found += 1 / rangeSize(range)
    }
  }
  return found / listing.length
}
