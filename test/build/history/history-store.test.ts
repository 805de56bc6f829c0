// The store: what is put in comes out, the same again changes nothing, and age is the feed's own.

import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ListedRange, dayContent } from '../../../build/history/day-content.ts'
import { dayPath, storedDays } from '../../../build/history/history-days.ts'
import { openDuckDb } from '../../../build/history/duckdb.ts'
import { pruneHistory } from '../../../build/history/history-store.ts'
import { readDayRows, readDayMetadata } from '../../../build/history/day-file.ts'
import { type Day, formatDay } from '../../../src/base/day.ts'
import { anyRange, day, listed, today, useFolder, withStore } from './history-sample.ts'
import { inForm } from '../../form.ts'

const folder = useFolder()
const feed = 'vpn-example'
const path = (at: Day = today): string => dayPath(folder(), feed, at)

const rowsAt = async (file: string): Promise<ListedRange[]> => {
  const duck = await openDuckDb({ spill: folder() })
  const rows = await readDayRows(duck, file)
  await duck.close()
  return rows
}

const anyListed: fc.Arbitrary<ListedRange> = fc.record({
  range: anyRange,
  lists: fc.option(fc.integer({ min: 1, max: 2 ** 32 - 1 }), { nil: undefined }),
  provider: fc.option(fc.string({ unit: 'grapheme', minLength: 1 }), { nil: undefined }),
  category: fc.constantFrom(undefined, 'search', 'ai'),
})

describe('a day', () => {
  it('comes back as it was put in, for any ranges of both families', async () => {
    await withStore(folder(), async (store) => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyListed, { minLength: 1, maxLength: 60 }), async (rows) => {
          await store.setDay({ feed, day: today, listed: rows })
          const back = await rowsAt(path())
          expect(back).toEqual(dayContent(rows).rows.map((row) => ({ ...blank, ...row })))
          for (const { range } of rows) {
            expect(back.some((row) => sameRange(row.range, range))).toBe(true)
          }
        }),
        { numRuns: inForm({ short: 10, full: 30, long: 60 }) },
      )
    })
  })

  it('keeps many rows in order, over more than one chunk', async () => {
    const rows = Array.from({ length: 10_000 }, (_, n): ListedRange => {
      const first = BigInt((n * 7_919) % 10_007) << 70n
      return { range: { family: 6, first, last: first + 5n } }
    })
    await withStore(folder(), (store) => store.setDay({ feed, day: today, listed: rows }))
    expect(await rowsAt(path())).toEqual(dayContent(rows).rows.map((row) => ({ ...blank, ...row })))
  })

  it('says what it is', async () => {
    const rows = [...listed('192.0.2.7', '192.0.2.0/24'), ...listed('192.0.2.7')]
    await withStore(folder(), (store) => store.setDay({ feed, day: today, listed: rows }))
    const duck = await openDuckDb({ spill: folder() })
    const said = await readDayMetadata(duck, [path()])
    await duck.close()
    const { hash } = dayContent(rows)
    expect(said.get(path())).toEqual({ feed, day: today, rowCount: 2, detailCount: 0, hash })
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
  })

  it('has the columns that other engines read, none a double', async () => {
    await withStore(folder(), (store) => store.setDay({ feed, day: today, listed: listed('::1') }))
    const duck = await openDuckDb({ spill: folder() })
    const columns = await duck.all(`describe select * from '${path()}'`)
    await duck.close()
    expect(columns.map(([name, type]) => `${String(name)} ${String(type)}`)).toEqual([
      'family TINYINT',
      'first_high UBIGINT',
      'first_low UBIGINT',
      'last_high UBIGINT',
      'last_low UBIGINT',
      'lists UINTEGER',
      'provider VARCHAR',
      'category VARCHAR',
      'day DATE',
    ])
  })
})

describe('the content', () => {
  it('does not depend on the order of the entries', () => {
    fc.assert(
      fc.property(fc.array(anyListed), fc.array(anyListed), (some, more) => {
        const both = dayContent([...some, ...more])
        expect(dayContent([...more, ...some])).toEqual(both)
        expect(dayContent([...both.rows, ...some])).toEqual(both)
      }),
    )
  })

  it('has another hash for other rows', () => {
    const hashes = [
      listed('192.0.2.1'),
      listed('192.0.2.2'),
      listed('192.0.2.1', '192.0.2.2'),
      listed('::192.0.2.1'),
      listed('192.0.2.1').map((row) => ({ ...row, lists: 2 })),
      listed('192.0.2.1').map((row) => ({ ...row, provider: 'a' })),
      listed('192.0.2.1').map((row) => ({ ...row, category: 'a' })),
    ].map((rows) => dayContent(rows).hash)
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})

describe('the same day again', () => {
  it('does not touch the file', async () => {
    await withStore(folder(), async (store) => {
      const rows = listed('192.0.2.1', '2001:db8::/32')
      expect(await store.addSnapshot({ feed, day: today, listed: rows })).toEqual({
        state: 'written',
        rowCount: 2,
      })
      const before = { at: statSync(path()), bytes: readFileSync(path()) }
      for (const put of ['addSnapshot', 'setDay'] as const) {
        const again = await store[put]({ feed, day: today, listed: [...rows].reverse() })
        expect(again).toEqual({ state: 'unchanged', rowCount: 2 })
      }
      const part = await store.addSnapshot({ feed, day: today, listed: rows.slice(1) })
      expect(part).toEqual({ state: 'unchanged', rowCount: 2 })
      const after = { at: statSync(path()), bytes: readFileSync(path()) }
      expect([after.at.ino, after.at.mtimeMs]).toEqual([before.at.ino, before.at.mtimeMs])
      expect(after.bytes.equals(before.bytes)).toBe(true)
    })
  })

  it('adds what a later fetch lists, and replaces by an import', async () => {
    await withStore(folder(), async (store) => {
      await store.addSnapshot({ feed, day: today, listed: listed('192.0.2.1') })
      await store.addSnapshot({ feed, day: today, listed: listed('192.0.2.2') })
      expect((await rowsAt(path())).map((row) => row.range.first)).toEqual([
        0xc0000201n,
        0xc0000202n,
      ])
      await store.setDay({ feed, day: today, listed: listed('192.0.2.3') })
      expect((await rowsAt(path())).map((row) => row.range.first)).toEqual([0xc0000203n])
    })
  })

  it('mends a damaged file', async () => {
    await withStore(folder(), async (store) => {
      await store.addSnapshot({ feed, day: today, listed: listed('192.0.2.1') })
      writeFileSync(path(), readFileSync(path()).subarray(0, 100))
      const put = await store.addSnapshot({ feed, day: today, listed: listed('192.0.2.1') })
      expect(put.state).toBe('written')
      expect(await rowsAt(path())).toHaveLength(1)
    })
  })
})

describe('the store', () => {
  it('prunes by the age of days in the feed, not by a clock', async () => {
    const days = [200, 121, 120, 1, 0].map((age) => (today - age) as Day)
    const dead = [400, 390].map((age) => (today - age) as Day)
    await withStore(folder(), async (store) => {
      const rows = listed('192.0.2.1')
      for (const at of days) await store.addSnapshot({ feed, day: at, listed: rows })
      for (const at of dead) await store.addSnapshot({ feed: 'vpn-dead', day: at, listed: rows })
      expect(await pruneHistory(folder(), [])).toBe(2)
      expect(await pruneHistory(folder(), [])).toBe(0)
    })
    expect(await storedDays(folder(), feed)).toEqual(days.slice(2))
    expect(await storedDays(folder(), 'vpn-dead')).toEqual(dead)
  })

  it('keeps a day a month of a feed whose evidence counts for longer, while it does', async () => {
    const old = ['2024-01-31', '2025-02-03', '2025-02-20', '2025-11-01', '2025-11-30']
    const days = [...old, '2026-04-23', '2026-04-24', '2026-08-22'].map(day)
    await withStore(folder(), async (store) => {
      for (const at of days) await store.addSnapshot({ feed, day: at, listed: listed('192.0.2.1') })
    })
    const halfLives = { lines: 10, shared: 10, elsewhere: 269 }
    const kept = [{ id: feed, kind: 'vpn', half_life_days: halfLives }] as const
    expect(await pruneHistory(folder(), kept)).toBe(3)
    expect(await pruneHistory(folder(), kept)).toBe(0)
    expect((await storedDays(folder(), feed)).map(formatDay)).toEqual([
      '2025-02-03',
      '2025-11-01',
      '2026-04-23',
      '2026-04-24',
      '2026-08-22',
    ])
  })

  it('refuses a day that is yet to come', async () => {
    await withStore(folder(), async (store) => {
      const snapshot = { feed, day: day('2999-01-01'), listed: listed('192.0.2.1') }
      await expect(store.addSnapshot(snapshot)).rejects.toMatchObject({ code: 'history_day' })
      expect(existsSync(path(snapshot.day))).toBe(false)
    })
  })

  it('is one writer at a time', async () => {
    await withStore(folder(), async () => {
      await expect(withStore(folder(), async () => 0)).rejects.toMatchObject({
        code: 'history_locked',
        retryable: true,
      })
    })
    expect(await withStore(folder(), async () => 1)).toBe(1)
  })

  it('removes what a killed run left, and nothing else', async () => {
    await withStore(folder(), (store) =>
      store.addSnapshot({ feed, day: today, listed: listed('192.0.2.1') }),
    )
    writeFileSync(join(folder(), feed, '.2026-08-21.parquet.x.tmp'), 'half a file')
    writeFileSync(join(folder(), feed, 'notes.txt'), 'mine')
    mkdirSync(join(folder(), 'another'))
    await withStore(folder(), async () => undefined)
    expect(readdirSync(join(folder(), feed)).sort()).toEqual(['2026-08-22.parquet', 'notes.txt'])
    expect(readdirSync(folder()).sort()).toEqual(['another', feed])
    expect(await storedDays(folder(), feed)).toEqual([today])
  })
})

const blank = { lists: undefined, provider: undefined, category: undefined }

function sameRange(a: ListedRange['range'], b: ListedRange['range']): boolean {
  return a.family === b.family && a.first === b.first && a.last === b.last
}
