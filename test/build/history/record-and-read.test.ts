// Recording and reading at the same time, against the one and then the other on a copy of the store.

import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { dayPath } from '../../../build/history/history-days.ts'
import { lockHistory } from '../../../build/history/history-store.ts'
import { type History, readHistory, recordAndRead } from '../../../build/history/read-history.ts'
import { recordToday, type SnapshotEntries } from '../../../build/history/record-today.ts'
import type { Day } from '../../../src/base/day.ts'
import { rowsOf } from './history-recount.ts'
import { feedOf, feeds, listed, range, today, useFolder, withStore } from './history-sample.ts'

const folder = useFolder()
const daysAgo = (age: number): Day => (today - age) as Day
const file = (id: string, texts: readonly string[], more: Partial<SnapshotEntries> = {}) => ({
  feed: feedOf(id),
  entries: texts.map((text, at) => ({ text, place: `line ${at + 1}`, lists: at + 2 })),
  day: today,
  problem: undefined,
  ...more,
})

/** Feeds that fade and that do not, that cannot be read, are kept out, and are no lists at all. */
const files = [
  file('vpn-x4b', ['45.0.0.1', '45.0.0.2', '2a00::/64']),
  file('block-ipsum', ['45.0.0.1', '45.0.1.0/24']),
  file('hosting-jhassine', ['45.0.0.0/16', '2a00::/48']),
  file('tor-exits-x4b', ['45.0.0.9']),
  file('vpn-mullvad', [], { problem: 'looks like HTML' }),
  file('asn-bgptools', ['45.0.0.1']),
  file('proxy-monosans', ['45.0.0.3'], { day: daysAgo(1) }),
]
const without = new Set(['tor-exits-x4b'])

interface Found {
  readonly recorded: Awaited<ReturnType<typeof recordToday>>
  readonly history: History
}

const atOnce = (store: string, read = files): Promise<Found> =>
  recordAndRead(read, { store, staging: join(store, '.staging'), without, asOf: today })

const oneAfterTheOther = async (store: string, read = files): Promise<Found> => {
  const folders = { store, staging: join(store, '.staging') }
  const recorded = await recordToday(read, { ...folders, without })
  const own = [...new Set(read.map(({ feed }) => feed))]
  return { recorded, history: await readHistory({ ...folders, feeds: own, asOf: today }) }
}

/** All that a build asks of a history: every mark is given in one, so that its rest has lapsed. */
const plainly = ({ recorded, history }: Found, store: string): unknown => {
  const problems = [...recorded.problems, ...history.problems].map((text) =>
    text.replaceAll(store, ''),
  )
  const { writtenCount, unchangedCount } = recorded
  const ofFeeds = feeds.map(({ id }) => {
    const found = history.of(id)
    if (found === undefined) return [id]
    const { days, daysObserved, count } = found
    const rows = [...rowsOf(found)]
    const marked = ['45.0.0.1', '45.0.0.0/16', '2a00::/48'].map((text) =>
      found.markListed(range(text)),
    )
    return [id, days, daysObserved, count, rows, marked, [...rowsOf(found).keys()]]
  })
  return { problems, writtenCount, unchangedCount, ofFeeds }
}

async function expectTheSame(prepare: (store: string) => Promise<void>): Promise<Found> {
  const [store, twin] = [join(folder(), 'store'), join(folder(), 'twin')]
  await withStore(store, async () => undefined)
  await prepare(store)
  cpSync(store, twin, { recursive: true })
  const expected = plainly(await oneAfterTheOther(twin), twin)
  const found = await atOnce(store)
  expect(plainly(found, store)).toEqual(expected)
  return found
}

const putPast = (store: string): Promise<void> =>
  withStore(store, async (opened) => {
    for (const age of [100, 3, 2, 1]) {
      for (const { feed } of files) {
        const rows = listed('45.0.0.1', `45.0.${age}.0/24`, '2a00::/63')
        const details = rows.map((row) => ({ ...row, provider: `P${age}` }))
        await opened.setDay({ feed: feed.id, day: daysAgo(age), listed: details })
      }
    }
  })

describe('recording and reading at the same time', () => {
  it('knows the day at hand alone where there is no history', async () => {
    const { recorded, history } = await expectTheSame(async () => undefined)
    expect(recorded.writtenCount).toBe(4)
    expect(history.of('vpn-x4b')?.days).toEqual([today])
    expect(history.of('tor-exits-x4b')).toBeUndefined()
  })

  it('joins the day at hand to those before, also of feeds that add nothing', async () => {
    const { history } = await expectTheSame(putPast)
    expect(history.of('vpn-x4b')?.days).toEqual([100, 3, 2, 1, 0].map(daysAgo))
    expect(history.of('vpn-x4b')?.markListed(range('45.0.0.1'))?.listed).toBe(0b1111)
    for (const id of ['tor-exits-x4b', 'vpn-mullvad', 'asn-bgptools']) {
      expect(history.of(id)?.days).toEqual([100, 3, 2, 1].map(daysAgo))
    }
  })

  it('adds to a day that was recorded before, and changes nothing the second time', async () => {
    await expectTheSame(async (store) => {
      await putPast(store)
      await withStore(store, async (opened) => {
        await opened.setDay({ feed: 'vpn-x4b', day: today, listed: listed('45.0.0.7') })
      })
      await recordToday(files.slice(1, 2), { store })
    })
    const again = await atOnce(join(folder(), 'store'))
    expect(again.recorded).toMatchObject({ writtenCount: 0, problems: [] })
    expect(again.history.of('vpn-x4b')?.markListed(range('45.0.0.7'))?.listed).toBe(1)
  })

  it('counts damaged days as missing, and replaces one of the day at hand', async () => {
    const { history } = await expectTheSame(async (store) => {
      await putPast(store)
      await recordToday(files, { store })
      for (const [id, age] of [
        ['vpn-x4b', 2],
        ['block-ipsum', 0],
      ] as const) {
        const path = dayPath(store, id, daysAgo(age))
        writeFileSync(path, readFileSync(path).subarray(0, 40))
      }
      const torn = dayPath(store, 'hosting-jhassine', daysAgo(1))
      const bytes = Buffer.from(readFileSync(torn))
      writeFileSync(torn, bytes.fill(0xff, 4, 60))
    })
    expect(history.problems).toHaveLength(2)
    expect(history.of('block-ipsum')?.days).toEqual([100, 3, 2, 1, 0].map(daysAgo))
  })

  it('fails as recording does, also while it reads, and leaves the history free', async () => {
    const store = join(folder(), 'store')
    await putPast(store)
    const torn = {
      ...file('hosting-jhassine', []),
      get entries(): never {
        throw new Error('torn')
      },
    }
    await expect(atOnce(store, [...files.slice(0, 2), torn])).rejects.toThrow('torn')
    rmSync(join(store, '.staging'), { recursive: true })
    const lock = lockHistory(store)
    await expect(atOnce(store)).rejects.toMatchObject({ code: 'history_locked' })
    lock.release()
    const tomorrow = file('block-ipsum', ['45.0.0.1'], { day: daysAgo(-400) })
    const { recorded, history } = await atOnce(store, [...files.slice(0, 1), tomorrow])
    expect(recorded.problems).toHaveLength(1)
    expect(history.of('block-ipsum')?.days).toEqual([100, 3, 2, 1].map(daysAgo))
  })
})
