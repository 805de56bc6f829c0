// The history as a build reads it, against a plain recount of random listings where ranges nest and
// repeat. On real listed addresses: read-history.world.test.ts.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dayPath } from '../../../build/history/history-days.ts'
import { countMaskDays } from '../../../build/history/history-ranges.ts'
import { type History, readHistory } from '../../../build/history/read-history.ts'
import { type Day } from '../../../src/base/day.ts'
import type { HalfLives } from '../../../src/model/evidence.ts'
import { formatRange } from '../../../src/ip/range.ts'
import { day, listed, nearPrefix, range, today, useFolder, withStore } from './history-sample.ts'
import { type Listings, recount, rowsOf } from './history-recount.ts'
import { inForm } from '../../form.ts'

const folder = useFolder()
const feeds = [{ id: 'vpn-example', kind: 'vpn' }] as const
const feed = feeds[0].id

const read = (asOf: Day = today, kind: 'vpn' | 'hosting' | 'relay' = 'vpn'): Promise<History> =>
  readHistory({ store: folder(), feeds: [{ id: feed, kind }], asOf })

const put = (listings: Listings): Promise<void> =>
  withStore(folder(), async (store) => {
    for (const [at, ranges] of listings) {
      await store.setDay({ feed, day: at, listed: ranges.map((range) => ({ range })) })
    }
  })

describe('the history of a feed', () => {
  it('is what a plain recount finds, wherever prefixes nest and repeat', async () => {
    const anyListings = fc
      .array(fc.tuple(fc.nat(130), fc.array(nearPrefix, { minLength: 1, maxLength: 30 })), {
        minLength: 1,
        maxLength: 20,
      })
      .map((days): Listings => new Map(days.map(([age, ranges]) => [(today - age) as Day, ranges])))
    let rowCount = 0
    await fc.assert(
      fc
        .asyncProperty(anyListings, fc.nat(40), async (listings, back) => {
          await put(listings)
          const asOf = (today - back) as Day
          const history = (await read(asOf)).of(feed)
          const rows = rowsOf(history)
          for (const { range, seen } of rows.values()) {
            rowCount++
            const { daysObserved, ...expected } = recount(listings, range, asOf)
            const found = { ...seen, listed: countMaskDays(seen.listed) }
            expect(history?.daysObserved).toBe(daysObserved)
            expect([found.lastSeen, found.listed]).toEqual([expected.lastSeen, expected.daysListed])
            expect(found.firstSeen).toBeGreaterThanOrEqual(expected.firstSeen as number)
          }
          const distinct = new Map<string, Day>()
          for (const [at, ranges] of listings) {
            for (const range of at <= asOf ? ranges : []) {
              const text = formatRange(range)
              if (at > (distinct.get(text) ?? 0)) distinct.set(text, at)
            }
          }
          // What the newest snapshot lists is kept, however old it is.
          const oldest = Math.min(
            asOf - 90,
            ...(history === undefined ? [] : history.days.slice(-1)),
          )
          const recent = [...distinct].filter(([, last]) => last >= oldest).map(([text]) => text)
          expect([...rows.keys()].sort()).toEqual(recent.sort())
        })
        .afterEach(() => rmSync(join(folder(), feed), { recursive: true })),
      { numRuns: inForm({ short: 16, full: 24, long: 40 }) },
    )
    expect(rowCount).toBeGreaterThan(inForm({ short: 50, full: 150, long: 300 }))
  })

  it('measures the age of a day by the days up to the one that counts as today', async () => {
    await put(
      new Map([
        [(today - 121) as Day, [range('45.0.0.0')]],
        [today, [range('45.0.0.0')]],
      ]),
    )
    const rows = rowsOf((await read((today - 31) as Day)).of(feed))
    expect([...rows.keys()]).toEqual(['45.0.0.0'])
  })

  it('knows for as long as the evidence of its feed counts what the feed listed', async () => {
    const ages = [900, 600, 200, 100, 0]
    const listings = ages.map(
      (age, at) => [(today - age) as Day, [range(`192.0.2.${at}`)]] as const,
    )
    await put(new Map(listings))
    const lapsed = async (half_life_days?: HalfLives): Promise<readonly number[]> => {
      const feeds = [{ id: feed, kind: 'vpn', ...(half_life_days && { half_life_days }) }] as const
      const history = (await readHistory({ store: folder(), feeds, asOf: today })).of(feed)
      history?.markListed(range('192.0.2.4'))
      return [...(history?.lapsed() ?? [])].map(({ seen }) => today - seen.lastSeen)
    }
    expect(await lapsed()).toEqual([])
    expect(await lapsed({ elsewhere: 60 })).toEqual([])
    expect(await lapsed({ elsewhere: 269 })).toEqual([600, 200, 100])
  })

  it('does not count days without a snapshot, neither as listed nor as observed', async () => {
    const days = ['2026-08-22', '2026-08-20', '2026-08-01', '2026-07-24', '2026-07-23'].map(day)
    await put(new Map(days.map((at) => [at, [range('192.0.2.1')]])))
    const history = (await read()).of(feed)
    expect(history?.daysObserved).toBe(4)
    const seen = history?.markListed(range('192.0.2.1'))
    expect(countMaskDays(seen?.listed ?? 0)).toBe(4)
    expect(seen).toMatchObject({ firstSeen: day('2026-07-23'), lastSeen: today })
    expect([...(history?.lapsed() ?? [])]).toEqual([])
  })

  it('leaves over what the newest snapshot no longer lists, for kinds that fade alone', async () => {
    await put(
      new Map([
        [day('2026-08-20'), [range('192.0.2.1'), range('2001:db8::/48')]],
        [today, [range('192.0.2.2')]],
      ]),
    )
    for (const kind of ['vpn', 'hosting', 'relay'] as const) {
      const history = (await read(today, kind)).of(feed)
      expect(history?.markListed(range('192.0.2.2'))).toMatchObject({ lastSeen: today })
      expect(history?.markListed(range('192.0.2.0/24'))).toBeUndefined()
      const rest = kind === 'vpn' ? ['192.0.2.1', '2001:db8::/48'] : []
      expect([...rowsOf(history).keys()]).toEqual(rest)
    }
  })

  it('says of an inner range what its outer one adds', async () => {
    const monday = (today - 1) as Day
    await put(
      new Map([
        [monday, [range('192.0.2.0/23')]],
        [today, [range('192.0.2.0/24'), range('192.0.2.4-192.0.3.4')]],
      ]),
    )
    const history = (await read()).of(feed)
    expect(history?.markListed(range('192.0.2.0/24'))?.listed).toBe(0b11)
    expect(history?.markListed(range('192.0.2.0/23'))?.listed).toBe(0b10)
    expect(history?.markListed(range('192.0.2.4-192.0.3.4'))?.listed).toBe(0b11)
  })

  it('keeps what the newest entry said beside its range', async () => {
    const one = range('192.0.2.1')
    await withStore(folder(), async (store) => {
      const at = (age: number): Day => (today - age) as Day
      await store.setDay({ feed, day: at(3), listed: [{ range: one, lists: 7, provider: 'A' }] })
      await store.setDay({ feed, day: at(2), listed: [{ range: one, lists: 3, provider: 'B' }] })
      await store.setDay({ feed, day: at(1), listed: listed('192.0.2.9') })
    })
    const rest = rowsOf((await read()).of(feed))
    expect(rest.get('192.0.2.1')?.details).toMatchObject({ lists: 3, provider: 'B' })
    expect(rest.get('192.0.2.9')?.details).toMatchObject({ lists: undefined, provider: undefined })
  })

  it('counts damaged and misplaced files as missing, and names them', async () => {
    const days = [0, 1, 2, 3, 4].map((age) => (today - age) as Day)
    await put(new Map(days.map((at) => [at, [range('192.0.2.1')]])))
    const path = (age: number): string => dayPath(folder(), feed, (today - age) as Day)
    const whole = readFileSync(path(1))
    writeFileSync(path(1), whole.subarray(0, whole.length - 20))
    writeFileSync(path(2), readFileSync(path(3)))
    const torn = Buffer.from(readFileSync(path(4)))
    torn.fill(0xff, 4, 60)
    writeFileSync(path(4), torn)
    const history = await read()
    expect(history.problems).toHaveLength(3)
    expect(history.problems.join('\n')).toContain(`${path(1)} is damaged`)
    expect(history.problems.join('\n')).toContain(`${path(2)} belongs to another day`)
    expect(history.problems.join('\n')).toContain(`${path(4)} is damaged`)
    expect(history.of(feed)?.daysObserved).toBe(2)
    expect(history.of(feed)?.markListed(range('192.0.2.1'))?.listed).toBe(0b1001)
  })

  it('is nothing where there is no store, no day or no such feed', async () => {
    const none = await readHistory({ store: join(folder(), 'nowhere'), feeds, asOf: today })
    expect(none.of(feed)).toBeUndefined()
    await put(new Map([[today, [range('192.0.2.1')]]]))
    expect((await read((today - 1) as Day)).of(feed)).toBeUndefined()
    expect((await read()).of('vpn-another')).toBeUndefined()
  })
})
