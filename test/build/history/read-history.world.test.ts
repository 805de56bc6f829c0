// The history as a build reads it, against a plain recount of real listed addresses.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import { countMaskDays } from '../../../build/history/history-ranges.ts'
import { readHistory } from '../../../build/history/read-history.ts'
import { whyInadmissible } from '../../../build/catalogue/feed.ts'
import { type Day, parseDay } from '../../../src/base/day.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import { type Range, formatRange, parseRange } from '../../../src/ip/range.ts'
import { newRandom } from '../../../bench/harness/random.ts'
import { describeFeeds, feedsFolder } from '../../feeds.ts'
import { worldHistory } from '../../world/world-tables.ts'
import { today } from './history-sample.ts'
import { type Listings, covers, recount, rowsOf } from './history-recount.ts'

describeFeeds('real days', () => {
  it('agree with a recount of the files on 800 listed addresses', async () => {
    const ids = ['tor-exits-onionoo', 'vpn-x4b', 'resproxy-avastel', 'proxy-iplocate']
    const catalogue = loadCatalogue(join(packageRoot, 'data', 'feeds'))
    // The recount takes the files as they are, also the day of 2026-08-08 that acceptance holds back:
    // this store was imported with --force.
    const history = await readHistory({
      store: await worldHistory(),
      feeds: catalogue.filter((one) => ids.includes(one.id)),
      asOf: today,
    })
    const random = newRandom(3)
    let missing = 0
    for (const id of ids) {
      const own = catalogue.find((one) => one.id === id)
      if (own === undefined) throw new Error(`${id} is not in the catalogue`)
      const listings = realListings(id, (range) => whyInadmissible(own, range) === undefined)
      const rows = [...rowsOf(history.of(id)).values()].map((row) => row.range)
      missing += 30 - (history.of(id)?.daysObserved ?? 0)
      for (let n = 0; n < 200; n++) {
        const ranges = [...listings.values()].slice(-60)[random.below(Math.min(60, listings.size))]
        const one = ranges?.[random.below(ranges.length)]
        if (one === undefined) throw new Error(`${id} lists nothing on a day`)
        const address = { family: one.family, first: one.first, last: one.first }
        const expected = recount(listings, address, today)
        const narrowest = rows
          .filter((range) => covers(range, address))
          .sort((a, b) => (a.last - a.first < b.last - b.first ? -1 : 1))[0]
        const seen = narrowest === undefined ? undefined : history.of(id)?.markListed(narrowest)
        const text = formatRange(address)
        expect([text, seen?.lastSeen, countMaskDays(seen?.listed ?? 0)]).toEqual([
          text,
          expected.lastSeen,
          expected.daysListed,
        ])
        expect(history.of(id)?.daysObserved).toBe(expected.daysObserved)
      }
    }
    expect(missing).toBeGreaterThan(0)
  })
})

/** The files as they are, read by other means than the import. */
function realListings(id: string, isSound: (range: Range) => boolean): Listings {
  const home = join(feedsFolder, 'history', id)
  const listings = new Map<Day, readonly Range[]>()
  for (const name of readdirSync(home).sort()) {
    const at = parseDay(name.slice(0, 10))
    if (at === undefined) continue
    const lines = gunzipSync(readFileSync(join(home, name)))
      .toString()
      .split('\n')
    const ranges = lines.map(parseRange).filter((range) => range !== undefined)
    listings.set(at, ranges.filter(isSound))
  }
  return listings
}
