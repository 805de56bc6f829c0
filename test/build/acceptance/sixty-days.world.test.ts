// The sixty real days of 23 feeds, day by day through acceptance as builds would have seen them.
// Every quarantine is known by name, and what stands in. All feeds go through its judgement, the
// three of 20,000 entries and more every fourth day; the three whose days jump most go through the
// whole of it, files, history and memory on disk.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { catalogueFolder, loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import { newCanaryIndex } from '../../../build/acceptance/entry-canaries.ts'
import { loadCanaries } from '../../../src/table/canaries.ts'
import { judgeFeed } from '../../../build/acceptance/accept-feeds.ts'
import type { FeedMemory } from '../../../build/acceptance/acceptance-ledger.ts'
import { type SnapshotFile, parseSnapshot } from '../../../build/evidence/read-snapshots.ts'
import { formatDay } from '../../../src/base/day.ts'
import { describeFeeds, feedsFolder } from '../../feeds.ts'
import { day, useFolder } from '../history/history-sample.ts'
import { fileOf, passFiles, tables } from './acceptance-sample.ts'

const home = join(feedsFolder, 'history')

const catalogued = new Set(loadCatalogue(catalogueFolder).map(({ id }) => id))
/** The shared folder has days of proposed feeds, too. */
const isCatalogued = (id: string): boolean => catalogued.has(id)

/** The feed of the catalogue, its files in the plain form of the history. */
function plainFeed(id: string): Feed {
  const feed = loadCatalogue(catalogueFolder).find((each) => each.id === id)
  if (feed === undefined) throw new Error(`${id} is not in the catalogue`)
  return { ...feed, files: [fileOf('list.txt')] }
}

function daysOf(feed: Feed): SnapshotFile[] {
  const names = readdirSync(join(home, feed.id)).sort()
  return names.map((name) => {
    const path = join(home, feed.id, name)
    return { feed, file: fileOf('list.txt'), path, day: day(name.slice(0, 10)) }
  })
}

/** Lists so long that a day takes a second, and so steady that no day differs by a tenth. */
const isLong = (entries: number): boolean => entries > 15_000
const longStride = 4

function linesOf({ path }: SnapshotFile): number {
  return gunzipSync(readFileSync(path)).reduce((sum, byte) => sum + (byte === 10 ? 1 : 0), 0)
}

const avastelShrank =
  '2026-08-08 resproxy-avastel: it shrank by half: 26 entries, where the median of its last 5 ' +
  'snapshots is 300'

/**
 * A list of tested proxies of which no day resembles the next, 37 to 1,666 entries. It has no bound of
 * its own: an earlier day stands in for at most four, and what it lists counts for longer (half-life 9 days).
 */
const stormsiaShrank: readonly string[] = [
  ['2026-06-24', 411, 'snapshot', 1141],
  ['2026-06-27', 269, '3 snapshots', 728],
  ['2026-07-06', 154, '5 snapshots', 571],
  ['2026-07-16', 104, '5 snapshots', 1183],
  ['2026-07-20', 44, '5 snapshots', 1521],
  ['2026-07-21', 37, '5 snapshots', 1521],
  ['2026-07-22', 629, '5 snapshots', 1521],
  ['2026-07-23', 379, '5 snapshots', 1521],
].map(
  ([on, size, past, median]) =>
    `${on} proxy-stormsia: it shrank by half: ${size} entries, where the median of its last ${past} is ${median}`,
)

async function textsOn(id: string, date: string): Promise<readonly string[]> {
  const snapshot = daysOf(plainFeed(id)).find((each) => formatDay(each.day) === date)
  if (snapshot === undefined) throw new Error(`no ${date} of ${id}`)
  return (await parseSnapshot(snapshot)).entries.map(({ text }) => text)
}

describeFeeds('sixty real days', () => {
  const folder = useFolder()

  it('pass but for a day on which a list of 300 had 26, and eight of a list of tested proxies', async () => {
    const index = newCanaryIndex(loadCanaries(), tables)
    const found = { days: 0, quarantines: [] as string[], drops: [] as string[] }
    const jumps: string[] = []
    for (const id of readdirSync(home).filter(isCatalogued)) {
      const feed = plainFeed(id)
      const ledger = new Map<string, FeedMemory>()
      let judged = 0
      for (const [turn, snapshot] of daysOf(feed).entries()) {
        if (isLong(judged) && turn % longStride > 0) {
          const change = Math.abs(linesOf(snapshot) / judged - 1)
          if (!(change < 0.1)) jumps.push(`${formatDay(snapshot.day)} ${id}: ${change}`)
          continue
        }
        const files = [await parseSnapshot(snapshot)]
        judged = files[0]!.entries.length
        const past = { ledger, history: new Map(), problems: [] }
        const { reasons, memory } = judgeFeed({ files, day: snapshot.day, index, past })
        ledger.set(id, memory)
        found.days++
        const on = `${formatDay(snapshot.day)} ${id}`
        found.quarantines.push(...reasons.map((reason) => `${on}: ${reason}`))
        found.drops.push(...files.flatMap(({ tally }) => tally.bad))
      }
    }
    expect(found.days).toBeGreaterThan(1000)
    expect(jumps).toEqual([])
    expect(found.quarantines).toEqual([...stormsiaShrank, avastelShrank])
    // None of these feeds names a resolver, a root server or a search engine on any day; two name
    // infrastructure: sites behind Cloudflare, and 1.2.3.4.
    expect(found.drops.filter((drop) => !drop.includes(': infrastructure: '))).toEqual([])
    expect(new Set(found.drops.map((drop) => drop.split('/')[0]))).toEqual(
      new Set(['block-threatfox', 'vpn-az0']),
    )
  }, 300_000)

  it('that of 300 deserved it: that day held a few of a list that did not change', async () => {
    const [before, on, after] = [
      await textsOn('resproxy-avastel', '2026-08-07'),
      await textsOn('resproxy-avastel', '2026-08-08'),
      await textsOn('resproxy-avastel', '2026-08-09'),
    ]
    expect([before.length, on.length, after.length]).toEqual([300, 26, 300])
    const stayed = before.filter((text) => after.includes(text))
    expect(stayed.length).toBeGreaterThan(150)
    // Most of what was there the day before and the day after was not gone in between.
    expect(stayed.filter((text) => on.includes(text)).length).toBeLessThan(20)
  })

  // Days before, of and after a fall; on an ordinary day about 60 % of what stays is listed.
  it.each([
    ['2026-07-05', '2026-07-06', '2026-07-09'],
    ['2026-07-15', '2026-07-16', '2026-07-17'],
    ['2026-07-19', '2026-07-20', '2026-07-24'],
    ['2026-07-19', '2026-07-21', '2026-07-24'],
  ])('so did the tested proxies where they fell deepest: %s, %s, %s', async (...dates) => {
    const [before, on, after] = await Promise.all(
      dates.map(async (date) => new Set(await textsOn('proxy-stormsia', date))),
    )
    const stayed = [...before!].filter((text) => after!.has(text))
    expect(stayed.length).toBeGreaterThan(100)
    expect(stayed.filter((text) => on!.has(text)).length).toBeLessThan(stayed.length / 4)
  })

  it.each([
    ['resproxy-avastel', '2026-08-01', { [avastelShrank]: '2026-08-07 300' }],
    ['proxy-iplocate', '2026-08-01', {}],
    [
      'proxy-stormsia',
      '2026-07-11',
      {
        [stormsiaShrank[3]!]: '2026-07-15 1666',
        [stormsiaShrank[4]!]: '2026-07-19 976',
        [stormsiaShrank[5]!]: '2026-07-19 976',
        [stormsiaShrank[6]!]: '2026-07-19 976',
        [stormsiaShrank[7]!]: '2026-07-19 976',
      },
    ],
  ])('%s through all of acceptance since %s', async (id, since, expected) => {
    const store = join(folder(), 'history')
    const found: Record<string, string> = {}
    const days = daysOf(plainFeed(id)).filter((each) => each.day >= day(since))
    for (const snapshot of days) {
      const { quarantined, textsOf } = await passFiles({ store }, [snapshot])
      for (const [feed, { reasons, instead }] of quarantined) {
        const on = `${formatDay(snapshot.day)} ${feed}: ${reasons.join('; ')}`
        found[on] = `${instead.replace('its snapshot of ', '')} ${textsOf(snapshot.feed).length}`
      }
    }
    expect(found).toEqual(expected)
  })
})
