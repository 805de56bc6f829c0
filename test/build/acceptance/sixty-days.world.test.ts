// The sixty real days of eleven feeds, day by day through acceptance as builds would have seen them.
// Every quarantine is known by name, with why it was deserved. All feeds go through its judgement;
// the two whose days jump most go through the whole of it, files, history and memory on disk.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Feed } from '../../../build/catalogue/feed.ts'
import { catalogueFolder, loadCatalogue } from '../../../build/catalogue/load-catalogue.ts'
import { newCanaryIndex } from '../../../build/acceptance/entry-canaries.ts'
import { loadCanaries } from '../../../src/table/canaries.ts'
import { judgeFeed } from '../../../build/acceptance/feed-quarantine.ts'
import type { FeedMemory } from '../../../build/acceptance/acceptance-ledger.ts'
import { newRangeInterner } from '../../../build/layer/intern.ts'
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

const shrunk =
  '2026-08-08 resproxy-avastel: it shrank by half: 26 entries, where the median of its last 5 ' +
  'snapshots is 300'

describeFeeds('sixty real days', () => {
  const folder = useFolder()

  it('pass with one quarantine, a day on which a list of 300 had 26', async () => {
    const context = { index: newCanaryIndex(loadCanaries(), tables), ranges: newRangeInterner() }
    const found = { days: 0, quarantines: [] as string[], drops: [] as string[] }
    for (const id of readdirSync(home).filter(isCatalogued)) {
      const feed = plainFeed(id)
      const ledger = new Map<string, FeedMemory>()
      for (const snapshot of daysOf(feed)) {
        const files = [await parseSnapshot(snapshot)]
        const past = { ledger, history: new Map(), problems: [] }
        const { reasons, memory } = judgeFeed({ files, day: snapshot.day, context, past })
        ledger.set(id, memory)
        found.days++
        const on = `${formatDay(snapshot.day)} ${id}`
        found.quarantines.push(...reasons.map((reason) => `${on}: ${reason}`))
        found.drops.push(...files.flatMap(({ tally }) => tally.bad))
      }
    }
    expect(found.days).toBeGreaterThan(600)
    expect(found.quarantines).toEqual([shrunk])
    // None of these feeds names a resolver, a root server or a search engine on any day; two name
    // infrastructure: sites behind Cloudflare, and 1.2.3.4.
    expect(found.drops.filter((drop) => !drop.includes(': infrastructure: '))).toEqual([])
    expect(new Set(found.drops.map((drop) => drop.split('/')[0]))).toEqual(
      new Set(['block-threatfox', 'vpn-az0']),
    )
  }, 300_000)

  it('the one quarantine was deserved: that day held a few of a list that did not change', async () => {
    const days = daysOf(plainFeed('resproxy-avastel'))
    const textsOn = async (date: string): Promise<readonly string[]> => {
      const snapshot = days.find((each) => formatDay(each.day) === date)
      if (snapshot === undefined) throw new Error(`no ${date}`)
      return (await parseSnapshot(snapshot)).entries.map(({ text }) => text)
    }
    const [before, on, after] = [
      await textsOn('2026-08-07'),
      await textsOn('2026-08-08'),
      await textsOn('2026-08-09'),
    ]
    expect([before.length, on.length, after.length]).toEqual([300, 26, 300])
    const stayed = before.filter((text) => after.includes(text))
    expect(stayed.length).toBeGreaterThan(150)
    // Most of what was there the day before and the day after was not gone in between.
    expect(stayed.filter((text) => on.includes(text)).length).toBeLessThan(20)
  })

  it.each(['resproxy-avastel', 'proxy-iplocate'])('%s through all of acceptance', async (id) => {
    const store = join(folder(), 'history')
    const found: string[] = []
    const days = daysOf(plainFeed(id)).filter((each) => each.day >= day('2026-08-01'))
    for (const snapshot of days) {
      const { quarantined, textsOf } = await passFiles({ store }, [snapshot])
      for (const [feed, { reasons, instead }] of quarantined) {
        found.push(`${formatDay(snapshot.day)} ${feed}: ${reasons.join('; ')} (${instead})`)
        expect(textsOf(snapshot.feed)).toHaveLength(300)
      }
    }
    const expected = `${shrunk} (its snapshot of 2026-08-07)`
    expect(found).toEqual(id === 'resproxy-avastel' ? [expected] : [])
  })
})
