// What a build adds to the history of what it read.

import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readHistory } from '../../../build/history/read-history.ts'
import {
  type SnapshotEntries,
  admissibleRanges,
  recordToday,
} from '../../../build/history/record-today.ts'
import type { Day } from '../../../src/base/day.ts'
import { formatRange } from '../../../src/ip/range.ts'
import { feedOf, feeds, range, today, useFolder } from './history-sample.ts'

const folder = useFolder()
const file = (id: string, texts: readonly string[], more: Partial<SnapshotEntries> = {}) => ({
  feed: feedOf(id),
  entries: texts.map((text, at) => ({ text, place: `line ${at + 1}` })),
  day: today,
  problem: undefined,
  ...more,
})

describe('a build', () => {
  it('adds the files of a feed as one snapshot of the newest day', async () => {
    const report = await recordToday(
      [
        file('vpn-x4b', ['198.51.101.1', '10.0.0.1', 'hello', 'AS64496']),
        file('vpn-x4b', ['2a00::/64'], { day: (today - 1) as Day }),
      ],
      { store: folder() },
    )
    expect(report).toEqual({ writtenCount: 1, unchangedCount: 0, problems: [] })
    const history = (await readHistory({ store: folder(), feeds, asOf: today })).of('vpn-x4b')
    expect(history?.days).toEqual([today])
    expect([...(history?.lapsed() ?? [])].map((row) => formatRange(row.range))).toEqual([
      '198.51.101.1',
      '2a00::/64',
    ])
    expect(history?.markListed(range('2a00::/64'))).toMatchObject({ firstSeen: today, listed: 1 })
  })

  it('adds nothing of a feed of which a file could not be read, nor what acceptance keeps out', async () => {
    const report = await recordToday(
      [
        file('vpn-x4b', ['198.51.101.1']),
        file('vpn-x4b', [], { problem: 'looks like HTML' }),
        file('tor-exits-x4b', ['198.51.101.1']),
        file('asn-bgptools', ['198.51.101.1']),
        file('vpn-mullvad', []),
        file('proxy-iplocate', ['198.51.101.1'], { day: (today + 100_000) as Day }),
      ],
      { store: folder(), without: new Set(['tor-exits-x4b']) },
    )
    expect(report).toMatchObject({ writtenCount: 0, unchangedCount: 0 })
    expect(report.problems).toEqual([expect.stringContaining('proxy-iplocate: not added')])
    expect(readdirSync(folder())).toEqual([])
  })

  it('keeps what an entry says beside its range, where it is not the default', () => {
    const entries = [
      { text: '198.51.101.1', place: 'line 1', lists: 1, provider: '' },
      { text: '198.51.101.2', place: 'line 2', lists: 5, provider: 'A', category: 'ai' as never },
    ]
    expect(admissibleRanges(feedOf('block-ipsum'), entries)).toEqual([
      { range: range('198.51.101.1') },
      { range: range('198.51.101.2'), lists: 5, provider: 'A', category: 'ai' },
    ])
  })
})
