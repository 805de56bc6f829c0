// What a build adds to the history of the shared feeds: all that they list.

import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readHistory } from '../../../build/history/read-history.ts'
import { admissibleRanges, recordToday } from '../../../build/history/record-today.ts'
import { parseSnapshot } from '../../../build/evidence/read-snapshots.ts'
import type { Day } from '../../../src/base/day.ts'
import { formatRange } from '../../../src/ip/range.ts'
import { describeFeeds, feedsFolder } from '../../feeds.ts'
import { feedOf, feeds, today, useFolder } from './history-sample.ts'

const folder = useFolder()

describeFeeds('real snapshots', () => {
  it('lose nothing on their way through the store', async () => {
    const read = await Promise.all(
      ['block-ipsum', 'vpn-x4b', 'relay-apple'].flatMap((id) =>
        feedOf(id)
          .files.filter(({ role }) => role === 'use')
          .map((file) => {
            const path = join(feedsFolder, id, file.path)
            return parseSnapshot({ feed: feedOf(id), file, path, day: today })
          }),
      ),
    )
    expect(read.filter(({ problem }) => problem !== undefined)).toEqual([])
    await recordToday(read, { store: folder() })
    const history = await readHistory({ store: folder(), feeds, asOf: (today + 1) as Day })
    let taken = 0
    for (const { feed, entries, day } of read) {
      for (const { range } of admissibleRanges(feed, entries)) {
        const seen = history.of(feed.id)?.markListed(range)
        if (seen === undefined || seen.lastSeen < day) throw new Error(`${formatRange(range)} lost`)
        taken++
      }
    }
    expect(taken).toBeGreaterThan(150_000)
    for (const { feed } of read) expect([...(history.of(feed.id)?.lapsed() ?? [])]).toEqual([])
  })
})
