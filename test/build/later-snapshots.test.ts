// Snapshots of days after the day that is asked for: a build counts them as of its day, and names
// them; what measures a past day leaves them out.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openMeasuredInput } from '../../bench/detection/world/measured-input.ts'
import { clampedLines } from '../../build/build-report.ts'
import { newBuildStages } from '../../build/build-stages.ts'
import { compileTable } from '../../build/compile-table.ts'
import { type Day, formatDay } from '../../src/base/day.ts'
import { feedOf, fileOf } from './acceptance/acceptance-sample.ts'
import { writeDataSets } from './data-sets.ts'
import { today, useFolder } from './history/history-sample.ts'

describe('a snapshot of a later day', () => {
  const folder = useFolder()
  const later = (today + 3) as Day
  const feedsOf = (days: readonly Day[]) =>
    days.map((day, at) => ({ feed: { ...feedOf({ kind: 'vpn' }), id: `vpn-${at}` }, day }))

  /** A mirror folder with a feed for each day. */
  function writeMirror(days: readonly Day[]): string {
    const mirror = join(folder(), 'mirror')
    for (const { feed } of feedsOf(days)) {
      mkdirSync(join(mirror, feed.id), { recursive: true })
      writeFileSync(join(mirror, feed.id, 'list.txt'), '9.1.0.1\n')
    }
    const index = feedsOf(days).map(({ feed: { id }, day }) => ({
      id,
      snapshot_date: formatDay(day),
    }))
    writeFileSync(join(mirror, 'feeds.json'), JSON.stringify(index))
    return mirror
  }

  async function clampedBy(days: readonly Day[], asOf: Day): Promise<string | undefined> {
    const mirror = writeMirror(days)
    const snapshots = feedsOf(days).map(({ feed, day }) => {
      const path = join(mirror, feed.id, 'list.txt')
      return { feed, file: fileOf('list.txt'), path, day }
    })
    const input = { snapshots, asOf, history: undefined, ...writeDataSets(folder()) }
    const stages = newBuildStages(() => undefined)
    const compiled = await compileTable(input, { history: undefined }, stages)
    return clampedLines(compiled)[0]
  }

  it('is named by the build, one of the day itself is not', async () => {
    expect(await clampedBy([today, later, (today - 1) as Day], today)).toBe(
      `1 feed is of a later day and counted as of ${formatDay(today)}, so the table knows more ` +
        `than was known then: vpn-1 (${formatDay(later)})`,
    )
    expect(await clampedBy([today, (today - 1) as Day], today)).toBeUndefined()
  })

  it('is left out of what measures a past day, by name', async () => {
    const days = [today, later]
    const feeds = feedsOf(days).map(({ feed }) => ({ ...feed, files: [fileOf('list.txt')] }))
    const open = (asOf: Day | undefined) =>
      openMeasuredInput({
        feeds,
        mirror: writeMirror(days),
        snapshots: '',
        history: undefined,
        asOf,
      })
    const past = await open(today)
    expect(past.files.map(({ feed }) => feed.id).slice(1)).toEqual(['vpn-0'])
    expect(past.problems).toEqual([`vpn-1: left out, its snapshot is of ${formatDay(later)}`])
    const all = await open(later)
    expect(all.files.map(({ feed }) => feed.id).slice(1)).toEqual(['vpn-0', 'vpn-1'])
    expect(all.problems).toEqual([])
  })
})
