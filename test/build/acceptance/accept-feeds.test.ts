// Acceptance with real files and a real history: what a build may use of a feed on a bad day.

import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { dayPath, storedDays } from '../../../build/history/history-days.ts'
import { readHistory } from '../../../build/history/read-history.ts'
import { recordToday } from '../../../build/history/record-today.ts'
import { newParseCounts } from '../../../build/parse/parse-counts.ts'
import type { ParsedSnapshot } from '../../../build/evidence/read-snapshots.ts'
import { beginHistoryTransaction } from '../../../build/acceptance/history-transaction.ts'
import { overlapMax } from '../../../build/acceptance/overlap-depth.ts'
import type { Feed } from '../../../build/catalogue/feed.ts'
import type { Day } from '../../../src/base/day.ts'
import { formatDay } from '../../../src/base/day.ts'
import { day, today, useFolder } from '../history/history-sample.ts'
import { type Fixture, addresses, feedOf, fileOf, pass } from './acceptance-sample.ts'

const folder = useFolder()
const fixture = (): Fixture => ({
  snapshots: join(folder(), 'snapshots'),
  store: join(folder(), 'history'),
})
const at = (offset: number): Day => (today + offset) as Day

const list = feedOf()
const usual = addresses(2000)

function readOf(feed: Feed, texts: readonly string[], day: Day): ParsedSnapshot {
  const entries = texts.map((text) => ({ text, place: 'here' }))
  return { feed, tally: newParseCounts(feed.id), entries, day, problem: undefined }
}

/** A good yesterday, then what the feed says today. */
async function afterAGoodDay(bad: string | readonly string[], feed = list) {
  const here = fixture()
  await pass(here, at(-1), [[feed, usual]])
  const passage = await pass(here, today, [[feed, bad]])
  return {
    ...passage,
    quarantine: passage.quarantined.get(feed.id),
    used: passage.textsOf(feed),
    here,
  }
}

describe('incidents', () => {
  it.each([
    ['an HTML page with status 200', '<!doctype html><title>Sorry</title>', /looks like HTML/],
    ['an empty file', '', /it has no entries/],
    ['comments alone', '# nothing today\n', /it has no entries/],
    ['what is no list at all', ['hello', 'world'], /none of its 2 entries is valid|no entries/],
    ['a tenth of what it was', usual.slice(0, 200), /it shrank by half: 200 entries.* is 2000/],
    ['threefold', addresses(6000), /it grew threefold: 6000 entries/],
    ['0.0.0.0/0', [...usual, '0.0.0.0/0'], /it lists 0\.0\.0\.0\/0, wider than \/24/],
    ['::/0', [...usual, '::/0'], /it lists ::\/0, wider than \/48/],
    ['38.0.0.0/8', [...usual, '38.0.0.0/8'], /it lists 38\.0\.0\.0\/8, wider than \/24/],
    ["a resolver's whole range", [...usual, '8.8.8.0/24'], /a resolver's whole range/],
    [
      '0.0.0.0, 1.1.1.1 and 8.8.8.8 among 2,000',
      [...usual, '0.0.0.0', '1.1.1.1', '8.8.8.8'],
      /3 of its 2003 entries are on canaries, such as 0\.0\.0\.0; the limit is 0\.1 %/,
    ],
  ])('%s is quarantined; yesterday stands in', async (_title, bad, reason) => {
    const { quarantine, used, here } = await afterAGoodDay(bad)
    expect(quarantine?.reasons.join('\n')).toMatch(reason)
    expect(quarantine?.instead).toBe(`its snapshot of ${formatDay(at(-1))}`)
    expect(used).toEqual(usual)
    expect(await storedDays(here.store, list.id)).toEqual([at(-1)])
  })

  it.each([
    ['ranges within ranges', (n: number) => `9.200.0.${n}-9.200.0.${255 - n}`],
    ['one address with ever another provider', (n: number) => `9.200.0.1,Provider ${n}`],
    ['a line with ever another provider', (n: number) => `2a00:1:2:3::${n + 1},Provider ${n}`],
    ['a few ranges, each with some providers', (n: number) => `9.200.0.0/${24 + (n % 4)},P${n}`],
  ])('%s are quarantined above a bound: the table has no room for them', async (_title, line) => {
    const options = { columns: ['ip', 'who'], address: 'ip', provider: 'who' }
    const feed = feedOf({ files: [{ ...fileOf('list.csv', 'csv'), options }] })
    const said = (count: number) => [...usual, ...Array.from({ length: count }, (_, n) => line(n))]
    const few = await afterAGoodDay(said(overlapMax - 1), feed)
    expect(few.quarantine).toBeUndefined()
    const many = await afterAGoodDay(said(overlapMax + 1), feed)
    expect(many.quarantine?.reasons).toEqual([
      expect.stringMatching(/^up to 3\d of its entries cover one address; the limit is 32$/),
    ])
    expect(many.used).toEqual(usual)
  })

  it('ranges beside each other hold no address together', async () => {
    const blocks = Array.from({ length: 40 }, (_, n) => `9.200.${n}.0/24`)
    const { quarantine, used } = await afterAGoodDay([...usual, ...blocks])
    expect(quarantine).toBeUndefined()
    expect(used).toHaveLength(2040)
  })

  it('a single address that is for special use is an accident', async () => {
    const { quarantine } = await afterAGoodDay([...usual, '10.0.0.1'])
    expect(quarantine).toBeUndefined()
  })

  it('one in a thousand of its entries may be on canaries, and not more', async () => {
    const canaries = ['1.1.1.1', '8.8.8.8']
    const enough = await afterAGoodDay([...usual.slice(0, 1998), ...canaries])
    expect(enough.quarantine).toBeUndefined()
    const few = await afterAGoodDay([...usual.slice(0, 1997), ...canaries])
    expect(few.quarantine?.reasons[0]).toMatch(/^2 of its 1999 entries are on canaries/)
    // A single one is an accident, whatever share of a small list it is.
    const small = await pass(fixture(), today, [
      [feedOf({ id: 'test-small' }), [...usual.slice(0, 9), '8.8.8.8']],
    ])
    expect(small.quarantined.size).toBe(0)
  })

  it.each(['8.8.8.8', '1.1.1.1', '198.41.0.4', '2001:4860:4860::8888'])(
    'a single %s is dropped and counted, and the feed stays',
    async (canary) => {
      const { quarantine, used, files } = await afterAGoodDay([...usual, canary])
      expect(quarantine).toBeUndefined()
      expect(used).toEqual(usual)
      const tally = files.find((file) => file.feed === list)?.tally
      expect([...(tally?.drops ?? [])]).toEqual([[expect.stringMatching(/^canary: /), 1]])
      expect(tally?.bad).toEqual([expect.stringContaining(canary)])
    },
  )

  it('infrastructure is dropped and counted, and does not count against the feed', async () => {
    const fronts = Array.from({ length: 30 }, (_, n) => `104.20.4.${n}`)
    const { quarantine, used, files } = await afterAGoodDay([...usual, ...fronts, '1.2.3.4'])
    expect(quarantine).toBeUndefined()
    expect(used).toEqual(usual)
    expect([...(files.find((file) => file.feed === list)?.tally.drops ?? [])]).toEqual([
      ['infrastructure: Cloudflare front ends', 30],
      ['infrastructure: APNIC research, where 1.2.3.4 is an example', 1],
    ])
  })

  it("a search engine's address in a blocklist stays: the answer says so, and caps it", async () => {
    const { quarantine, used } = await afterAGoodDay([...usual, '66.249.66.1'])
    expect(quarantine).toBeUndefined()
    expect(used).toEqual([...usual, '66.249.66.1'])
  })

  it('what a crawler list or a hoster says of its own is no accusation', async () => {
    const bot = feedOf({ id: 'test-bot', kind: 'bot' })
    const hosting = feedOf({ id: 'test-hosting', kind: 'hosting' })
    const texts = ['66.249.66.0/27', '8.8.8.0/24', '1.1.1.1']
    const passage = await pass(fixture(), today, [
      [bot, texts],
      [hosting, texts],
    ])
    expect(passage.quarantined.size).toBe(0)
    expect([passage.textsOf(bot), passage.textsOf(hosting)]).toEqual([texts, texts])
  })

  it('counts the distinct ranges of each feed, whatever others list', async () => {
    const texts = ['9.0.0.1', '9.0.0.2', '9.0.0.1/32', '9.0.0.0/24', '2a00::1', '2a00::1/128']
    const other = feedOf({ id: 'test-other' })
    const none = feedOf({ id: 'test-none' })
    const asns = feedOf({ id: 'test-asns', kind: 'hosting', files: [fileOf('a.txt', 'asns')] })
    const { held } = await pass(fixture(), today, [
      [list, texts],
      [none, ''],
      [asns, ['AS64496', 'AS64497', 'AS64496']],
      [other, [...texts, '9.0.0.3']],
    ])
    const sizes = [...held].map(([id, { size }]) => [id, size])
    expect(Object.fromEntries(sizes)).toEqual({
      [list.id]: 4,
      [none.id]: 0,
      [asns.id]: 2,
      [other.id]: 5,
    })
  })

  it('one bad file of two costs both: a set never mixes days', async () => {
    const two = feedOf({ files: [fileOf('a.txt'), fileOf('b.txt')] })
    const here = fixture()
    const [a, b] = [usual.slice(0, 1000), usual.slice(1000)]
    await pass(here, at(-1), [[two, a, b]])
    const passage = await pass(here, today, [[two, addresses(1000, 7), '<html></html>']])
    expect(passage.textsOf(two)).toEqual(usual)
  })

  it('a first snapshot that is broken has nothing to stand in, and the others build on', async () => {
    const other = feedOf({ id: 'test-other' })
    const passage = await pass(fixture(), today, [
      [list, '<html>'],
      [other, usual],
    ])
    expect(passage.quarantined.get(list.id)?.instead).toBe('nothing')
    expect(passage.textsOf(list)).toEqual([])
    expect(passage.textsOf(other)).toEqual(usual)
  })
})

describe('the last good content', () => {
  it('holds facts of ASes too, which the history does not', async () => {
    const network = feedOf({ id: 'test-asns', kind: 'network', files: [fileOf('a.txt', 'asns')] })
    const here = fixture()
    const good = Array.from({ length: 300 }, (_, n) => `AS${64_496 + n}`)
    const first = await pass(here, at(-1), [[network, good]])
    expect(first.textsOf(network)).toHaveLength(300)
    const second = await pass(here, today, [[network, good.slice(0, 20)]])
    expect(second.quarantined.get(network.id)?.reasons[0]).toMatch(/shrank by half: 20 entries/)
    expect(second.textsOf(network)).toHaveLength(300)
  })

  it('comes from the history where no files are kept, or kept ones are damaged', async () => {
    const { here } = await afterAGoodDay('')
    const memory = join(here.store, '.gate')
    const [kept = ''] = readdirSync(memory).filter((name) => name.startsWith(list.id))
    writeFileSync(join(memory, kept, 'list.txt'), '6.6.6.6\n')
    const damaged = await pass(here, today, [[list, '']])
    expect(damaged.quarantined.get(list.id)?.instead).toBe(`its history of ${formatDay(at(-1))}`)
    expect([...damaged.textsOf(list)].sort()).toEqual([...usual].sort())
    rmSync(memory, { recursive: true })
    const forgotten = await pass(here, today, [[list, usual.slice(0, 10)]])
    expect(forgotten.quarantined.get(list.id)?.reasons[0]).toMatch(/shrank by half: 10 entries/)
    expect(forgotten.textsOf(list)).toHaveLength(2000)
  })

  it('comes from a history of a single entry, too', async () => {
    const here = fixture()
    await pass(here, at(-1), [[list, ['9.0.0.1']]])
    rmSync(join(here.store, '.gate'), { recursive: true })
    const passage = await pass(here, today, [[list, '<html>']])
    expect(passage.quarantined.get(list.id)?.instead).toBe(`its history of ${formatDay(at(-1))}`)
    expect(passage.textsOf(list)).toEqual(['9.0.0.1'])
  })

  it('keeps one copy a feed, and none of what is quarantined', async () => {
    const here = fixture()
    for (const offset of [-3, -2, -1]) {
      await pass(here, at(offset), [[list, [...usual, `9.200.0.${offset + 9}`]]])
    }
    await pass(here, today, [[list, '<html>']])
    const kept = readdirSync(join(here.store, '.gate')).filter((name) => name.startsWith(list.id))
    expect(kept).toHaveLength(1)
    expect(readFileSync(join(here.store, '.gate', kept[0] ?? '', 'list.txt'), 'utf8')).toContain(
      '9.200.0.8',
    )
  })
})

describe('memory', () => {
  it('accepts a new size after three days that agree, and from then on measures by it', async () => {
    const here = fixture()
    const small = usual.slice(0, 200)
    for (const offset of [-9, -8, -7]) await pass(here, at(offset), [[list, usual]])
    const seen = []
    for (const offset of [-6, -5, -4, -3]) {
      const { quarantined, textsOf } = await pass(here, at(offset), [[list, small]])
      seen.push([quarantined.size, textsOf(list).length])
    }
    expect(seen).toEqual([
      [1, 2000],
      [1, 2000],
      [0, 200],
      [0, 200],
    ])
    // What it was long ago no longer speaks, the history's row counts included.
    const back = await pass(here, at(-2), [[list, usual]])
    expect(back.quarantined.get(list.id)?.reasons[0]).toMatch(/grew threefold: 2000 .* is 200$/)
  })

  it('never accepts what is wrong by itself', async () => {
    const here = fixture()
    await pass(here, at(-9), [[list, usual]])
    for (const offset of [-8, -7, -6, -5, -4]) {
      const { textsOf } = await pass(here, at(offset), [[list, [...usual, '0.0.0.0/0']]])
      expect(textsOf(list)).toEqual(usual)
    }
  })

  it('measures a fetch by fetches: a day of many fetches is larger than any of them', async () => {
    const here = fixture()
    const hourly = feedOf({ cadence: 'hourly', kind: 'proxy', widest: { ipv4: 32, ipv6: 128 } })
    for (const hour of [0, 1, 2, 3, 4]) await pass(here, at(-1), [[hourly, addresses(500, hour)]])
    const { quarantined } = await pass(here, today, [[hourly, addresses(500, 9)]])
    expect(quarantined.size).toBe(0)
  })

  it('remembers nothing of a build that was not promoted', async () => {
    const here = fixture()
    await pass(here, at(-1), [[list, usual]])
    const before = readFileSync(join(here.store, '.gate/ledger.json'), 'utf8')
    await pass(here, today, [[list, usual.slice(0, 10)]], { promoted: false })
    expect(readFileSync(join(here.store, '.gate/ledger.json'), 'utf8')).toBe(before)
  })

  it('the same build again says the same', async () => {
    const here = fixture()
    await pass(here, at(-1), [[list, usual]])
    for (const text of [usual.slice(0, 1200), usual.slice(0, 100)]) {
      const first = await pass(here, today, [[list, text]])
      const memory = readFileSync(join(here.store, '.gate/ledger.json'), 'utf8')
      const again = await pass(here, today, [[list, text]])
      expect([...again.quarantined]).toEqual([...first.quarantined])
      expect(again.textsOf(list)).toEqual(first.textsOf(list))
      expect(readFileSync(join(here.store, '.gate/ledger.json'), 'utf8')).toBe(memory)
    }
  })

  it('lives without its ledger, and says so where that is damaged', async () => {
    const { here } = await afterAGoodDay('')
    const path = join(here.store, '.gate/ledger.json')
    for (const text of ['', '{"version":1', '{"version":2,"feeds":{}}', '[]']) {
      writeFileSync(path, text)
      const { problems, quarantined } = await pass(here, today, [[list, usual.slice(0, 9)]], {
        promoted: false,
      })
      expect(problems).toEqual([expect.stringContaining('ledger.json is damaged')])
      expect(quarantined.size).toBe(1)
    }
  })
})

describe('a transaction of the history', () => {
  /** A known day, then a build that adds to it, and the first day of another feed. */
  async function begun() {
    const { store, snapshots } = fixture()
    await pass({ store, snapshots }, today, [[list, usual]])
    const path = dayPath(store, list.id, today)
    const before = readFileSync(path)
    const other = feedOf({ id: 'test-other' })
    const feeds = [list, other]
    const more = feeds.map((feed) => readOf(feed, addresses(50, 77), today))
    const transaction = await beginHistoryTransaction(store)
    const { history } = transaction
    if (history === undefined) throw new Error('there is a store')
    await recordToday(more, history)
    const isOld = async (): Promise<boolean> => {
      const days = await storedDays(store, other.id)
      return readFileSync(path).equals(before) && days.length === 0
    }
    const isNew = async (): Promise<boolean> => {
      const read = await readHistory({ store, feeds, asOf: today })
      const counts = feeds.map(({ id }) => read.of(id)?.count)
      return read.problems.length === 0 && counts[0] === 2050 && counts[1] === 50
    }
    expect(await isOld()).toBe(true)
    return { store, feeds, transaction, history, isOld, isNew }
  }

  const leftovers = (store: string): readonly string[] =>
    readdirSync(store).filter((name) => name.startsWith('.') && name !== '.gate')

  it('lets its build read what it staged: new days, and more on a known one', async () => {
    const { feeds, transaction, history } = await begun()
    const read = await readHistory({ ...history, feeds, asOf: today })
    expect(feeds.map(({ id }) => read.of(id)?.count)).toEqual([2050, 50])
    await transaction.release()
  })

  it('leaves the history as it was where it is not committed', async () => {
    const { store, transaction, isOld } = await begun()
    await transaction.release()
    expect(await isOld()).toBe(true)
    expect(leftovers(store)).toEqual([])
  })

  it('keeps what was judged good, whatever comes after', async () => {
    const { store, transaction, isNew } = await begun()
    await transaction.commit()
    expect(await isNew()).toBe(true)
    await transaction.release()
    const next = await beginHistoryTransaction(store)
    expect(await isNew()).toBe(true)
    await next.release()
    expect(leftovers(store)).toEqual([])
  })

  it('removes what a build staged that was killed before it was judged', async () => {
    const { store, transaction, history, isOld } = await begun()
    // As if its process was gone: the staged days stay, and nobody holds the lock.
    history.lock.release()
    const next = await beginHistoryTransaction(store)
    expect(await isOld()).toBe(true)
    expect(existsSync(history.staging)).toBe(false)
    await next.release()
    await transaction.release()
  })

  it.each([0, 1, 2])('finishes a commit that was killed after %i of two days', async (moved) => {
    const { store, feeds, history, isNew } = await begun()
    const accepted = join(store, '.accepted')
    renameSync(history.staging, accepted)
    for (const { id } of feeds.slice(0, moved)) {
      mkdirSync(join(store, id), { recursive: true })
      renameSync(dayPath(accepted, id, today), dayPath(store, id, today))
    }
    expect(await isNew()).toBe(moved === 2)
    history.lock.release()
    const next = await beginHistoryTransaction(store)
    expect(await isNew()).toBe(true)
    await next.release()
    expect(leftovers(store)).toEqual([])
  })

  it('prunes the history when it is committed, and reads it so before', async () => {
    const { store, snapshots } = fixture()
    const [old, kept] = [at(-121), at(-120)]
    for (const day of [old, kept]) await pass({ store, snapshots }, day, [[list, usual]])
    const transaction = await beginHistoryTransaction(store)
    const { history } = transaction
    if (history === undefined) throw new Error('there is a store')
    await recordToday([readOf(list, usual, today)], history)
    const read = await readHistory({ ...history, feeds: [list], asOf: today })
    expect(read.of(list.id)?.days).toEqual([kept, today])
    expect(await storedDays(store, list.id)).toEqual([old, kept])
    await transaction.commit()
    expect(await storedDays(store, list.id)).toEqual([kept, today])
    await transaction.release()
  })

  it('keeps everybody else from writing until it is released', async () => {
    const { store, transaction } = await begun()
    await expect(beginHistoryTransaction(store)).rejects.toMatchObject({ code: 'history_locked' })
    const more = [readOf(list, addresses(50, 78), today)]
    await expect(recordToday(more, { store })).rejects.toMatchObject({ code: 'history_locked' })
    await transaction.release()
    await recordToday(more, { store })
  })
})

describe('a feed whose snapshot is lost', () => {
  const other = feedOf({ id: 'test-other' })
  const lost = { missing: [{ feed: list, problem: 'status 404; there is no stored copy' }] }
  const nextDay = (here: Fixture) => pass(here, today, [[other, usual]], lost)

  it('is quarantined; its last good snapshot stands in, and acceptance knows it as before', async () => {
    const here = fixture()
    await pass(here, at(-1), [
      [list, usual],
      [other, usual],
    ])
    const memory = () => {
      const text = readFileSync(join(here.store, '.gate/ledger.json'), 'utf8')
      return (JSON.parse(text) as { feeds: Record<string, unknown> }).feeds[list.id]
    }
    const before = memory()
    for (const passage of [await nextDay(here), await nextDay(here)]) {
      expect([...passage.quarantined]).toEqual([
        [
          list.id,
          {
            reasons: ['status 404; there is no stored copy'],
            instead: `its snapshot of ${formatDay(at(-1))}`,
          },
        ],
      ])
      expect(passage.textsOf(list)).toEqual(usual)
      expect(passage.held.get(list.id)?.size).toBe(usual.length)
    }
    expect(memory()).toEqual(before)
    expect(await storedDays(here.store, list.id)).toEqual([at(-1)])
  })

  it('is taken from the newest day of the history where acceptance has no copy', async () => {
    const here = fixture()
    await pass(here, at(-1), [[list, usual]])
    rmSync(join(here.store, '.gate'), { recursive: true })
    const { quarantined, textsOf } = await nextDay(here)
    expect(quarantined.get(list.id)?.instead).toBe(`its history of ${formatDay(at(-1))}`)
    expect(new Set(textsOf(list))).toEqual(new Set(usual))
  })

  it('stays missing where it was never fetched', async () => {
    const { quarantined, held, files } = await nextDay(fixture())
    expect([quarantined.size, held.has(list.id)]).toEqual([0, false])
    expect(files.map(({ feed }) => feed.id)).toEqual([other.id])
  })

  it('is replaced whole where one of its files is lost, and judged by the rest without a copy', async () => {
    const two = feedOf({ files: [fileOf('a.txt'), fileOf('b.txt')] })
    const without = { missing: [{ feed: two, problem: 'b.txt is not what was fetched' }] }
    const half = [[two, usual.slice(0, 1500)]] as const
    const fresh = await pass(fixture(), today, half, without)
    expect(fresh.quarantined.size).toBe(0)
    expect(fresh.textsOf(two)).toHaveLength(1500)
    const here = { ...fixture(), store: join(folder(), 'other-history') }
    await pass(here, at(-1), [[two, usual.slice(0, 1500), usual.slice(1500)]])
    const { quarantined, textsOf } = await pass(here, today, half, without)
    expect(quarantined.get(two.id)?.reasons).toEqual(['b.txt is not what was fetched'])
    expect(textsOf(two)).toEqual(usual)
  })
})

describe('a file that states that it is nine months old', () => {
  it('passes, and is used as of the day that it states', async () => {
    const here = fixture()
    const text = ['# Last update: 2025-11-22 02:00:00', ...usual]
    const { quarantined, files } = await pass(here, today, [[list, text]])
    expect(quarantined.size).toBe(0)
    expect(files.map((file) => file.day)).toEqual([day('2025-11-22')])
    expect(await storedDays(here.store, list.id)).toEqual([day('2025-11-22')])
    expect(existsSync(join(here.store, '.gate/ledger.json'))).toBe(true)
  })
})

it.each([
  ['2099-01-01', '2026-08-22'],
  ['2026-08-24', '2026-08-22'],
  ['2026-08-23', '2026-08-23'],
])('a file that states %s on 2026-08-22 is of %s', async (stated, used) => {
  const text = [`# Last updated: ${stated}`, ...usual]
  const { files } = await pass(fixture(), day('2026-08-22'), [[list, text]])
  expect(files.map((file) => formatDay(file.day))).toEqual([used])
})
