// `iprisk history show` and `history import` as a person meets them.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import {
  historyImport,
  showHistory,
  isUnicode,
  monthRuler,
} from '../../../src/cli/compiler/history-command.ts'
import { type Io, renderLine } from '../../../src/cli/terminal/io.ts'
import type { Day } from '../../../src/base/day.ts'
import { settingsFor } from '../../cli/settings-for.ts'
import { day, listed, today, useFolder, withStore } from './history-sample.ts'

const folder = useFolder()

function newIo(): Io & { readonly outLines: string[]; readonly errLines: string[] } {
  const outLines: string[] = []
  const errLines: string[] = []
  return {
    outLines,
    errLines,
    out: (line) => outLines.push(renderLine(line, false)),
    err: (line) => errLines.push(renderLine(line, false)),
    outIsTerminal: false,
    outColumns: undefined,
    errIsTerminal: false,
    lines: () => Promise.resolve(undefined),
    write: async () => undefined,
    status: () => undefined,
    input: () => Readable.from([]),
    now: Date.now(),
  }
}

type Options = Partial<Parameters<typeof showHistory>[0]>

const show = async (address: string, options: Options = {}) => {
  const io = newIo()
  await showHistory(
    { address, store: folder(), json: false, unicode: false, dayCount: 40, ...options },
    io,
  )
  return { out: io.outLines, err: io.errLines }
}

const before = (age: number): Day => (today - age) as Day

async function fill(): Promise<void> {
  await withStore(folder(), async (store) => {
    for (const age of [0, 1, 2, 5, 6, 60]) {
      const texts = age === 2 ? ['192.0.2.0/24'] : ['192.0.2.7', '2001:db8::/32']
      await store.addSnapshot({ feed: 'vpn-b', day: before(age), listed: listed(...texts) })
    }
    for (const age of [0, 30, 39]) {
      const texts = age === 0 ? ['198.51.100.1'] : ['192.0.2.7-192.0.2.9']
      await store.addSnapshot({ feed: 'tor-a', day: before(age), listed: listed(...texts) })
    }
    await store.addSnapshot({ feed: 'bot-c', day: before(3), listed: listed('198.51.100.0/24') })
  })
}

describe('history show', () => {
  it('draws one line a feed, a mark a day', async () => {
    await fill()
    const { out, err } = await show('192.0.2.7')
    expect(err).toEqual([])
    expect(out).toEqual([
      '192.0.2.7, the 40 days to 2026-08-22',
      '',
      'feed   Jul               |Aug                  ' +
        '  listed  first seen  last seen   matched',
      'tor-a  #        #                             .' +
        '  2 of 3  2026-07-14  2026-07-23  192.0.2.7-192.0.2.9',
      'vpn-b                                   ##  ###' +
        '  5 of 5  2026-06-23  2026-08-22  192.0.2.7 and 1 wider',
      '',
      '# listed   . not listed   blank: no snapshot of that day',
      'listed: days out of those shown with a snapshot; first and last seen: over all days kept',
      '',
      'not listed by 1 feed with only one snapshot in these days',
    ])
  })

  it('draws blocks where the terminal has them', async () => {
    await fill()
    const { out } = await show('2001:db8::1', { unicode: true })
    expect(out[2]).toContain('│Aug')
    expect(out[3]?.slice(7, 47)).toBe(`${' '.repeat(33)}██  ·██`)
    expect(out.at(-4)).toBe('█ listed   · not listed   blank: no snapshot of that day')
  })

  it('gives the same as JSON', async () => {
    await fill()
    const { out } = await show('192.0.2.7', { json: true, asOf: before(1), dayCount: 7 })
    expect(JSON.parse(out.join('\n'))).toEqual({
      address: '192.0.2.7',
      as_of: '2026-08-21',
      days: [7, 6, 5, 4, 3, 2, 1].map((age) =>
        new Date(before(age) * 864e5).toISOString().slice(0, 10),
      ),
      feeds: [
        {
          feed: 'tor-a',
          ranges: ['192.0.2.7-192.0.2.9'],
          first_seen: '2026-07-14',
          last_seen: '2026-07-23',
          days_listed: 0,
          days_observed: 0,
          strip: '       ',
        },
        {
          feed: 'vpn-b',
          ranges: ['192.0.2.7', '192.0.2.0/24'],
          first_seen: '2026-06-23',
          last_seen: '2026-08-21',
          days_listed: 4,
          days_observed: 4,
          strip: ' ##  ##',
        },
      ],
      silent: ['bot-c'],
    })
  })

  it('ends on a day of two feeds, whatever day a single file states', async () => {
    await fill()
    await withStore(folder(), (store) =>
      store.setDay({ feed: 'bot-d', day: before(-24), listed: listed('203.0.113.9') }),
    )
    expect((await show('192.0.2.7')).out[0]).toBe('192.0.2.7, the 40 days to 2026-08-22')
    const { out } = await show('203.0.113.9', { asOf: before(-24) })
    expect(out[3]).toMatch(/^bot-d .*#  1 of 1  2026-09-15 {2}2026-09-15 {2}203\.0\.113\.9$/)
  })

  it('breaks the names of the silent into lines', async () => {
    await withStore(folder(), async (store) => {
      for (let n = 10; n < 30; n++) {
        for (const age of [0, 1]) {
          const text = `198.51.100.${n}`
          await store.setDay({ feed: `feed-${n}`, day: before(age), listed: listed(text) })
        }
      }
    })
    const { out } = await show('192.0.2.7')
    expect(out.slice(4)).toHaveLength(2)
    expect(out[4]).toMatch(/^not listed by feed-10, .*,$/)
    expect(out[5]).toMatch(/^ {2}feed-\d\d.*, feed-29$/)
    expect(Math.max(...out.map((line) => line.length))).toBeLessThanOrEqual(100)
  })

  it('finds IPv6 by both halves of an address', async () => {
    await withStore(folder(), (store) =>
      store.setDay({ feed: 'vpn-b', day: today, listed: listed('2001:db8::5-2001:db8:0:1::3') }),
    )
    for (const [address, found] of [
      ['2001:db8::4', false],
      ['2001:db8::5', true],
      ['2001:db8::ffff:0:0:1', true],
      ['2001:db8:0:1::3', true],
      ['2001:db8:0:1::4', false],
    ] as const) {
      const { out } = await show(address)
      const listing = out.some((line) => line.startsWith('vpn-b '))
      expect([address, listing]).toEqual([address, found])
    }
  })

  it('says so where nobody lists it, nothing is there, or it is no address', async () => {
    const empty = await show('192.0.2.7')
    expect(empty.out).toEqual([])
    expect(empty.err[0]).toContain('There are no snapshots of these days')
    await fill()
    const silent = await show('203.0.113.1')
    expect(silent.out).toEqual([
      '203.0.113.1, the 40 days to 2026-08-22',
      '',
      'no feed has listed it',
      '',
      'not listed by tor-a, vpn-b, 1 feed with only one snapshot in these days',
    ])
    for (const text of ['hello', '192.0.2.0/24', '192.0.2.1-192.0.2.2', '']) {
      await expect(show(text)).rejects.toMatchObject({
        code: 'usage',
        message: `${text} is not an IP address.`,
      })
    }
  })
})

describe('the ruler', () => {
  it('names months where there is room', () => {
    const from = (text: string, count: number) =>
      Array.from({ length: count }, (_, at) => (day(text) + at) as Day)
    expect(monthRuler(from('2026-06-24', 60), '|')).toBe(
      `Jun    |Jul${' '.repeat(27)}|Aug${' '.repeat(18)}`,
    )
    expect(monthRuler(from('2026-06-28', 5), '|')).toBe('   | ')
    expect(monthRuler(from('2026-07-01', 6), '|')).toBe('|Jul  ')
    expect(monthRuler(from('2026-07-02', 4), '|')).toBe('Jul ')
    expect(monthRuler([], '|')).toBe('')
  })

  it('knows a UTF-8 terminal by its locale', () => {
    expect(isUnicode({ LANG: 'en_US.UTF-8' })).toBe(true)
    expect(isUnicode({ LC_ALL: '', LC_CTYPE: 'C.utf8', LANG: 'C' })).toBe(true)
    expect(isUnicode({ LC_ALL: 'C', LANG: 'en_US.UTF-8' })).toBe(false)
    expect(isUnicode({})).toBe(false)
  })
})

describe('history import', () => {
  it('tells what it took and what not', async () => {
    const from = join(folder(), 'from')
    for (const [name, text] of [
      ['vpn-x4b/2026-08-21.txt', '198.51.101.1\nhello\n'],
      ['vpn-x4b/2026-08-22.txt', '198.51.101.1\n198.51.101.2\n'],
      ['vpn-nowhere/2026-08-22.txt', '198.51.101.1\n'],
    ] as const) {
      mkdirSync(join(from, name, '..'), { recursive: true })
      writeFileSync(join(from, name), text)
    }
    const store = join(folder(), 'store')
    const io = newIo()
    const settings = settingsFor('history import', { history: store })
    expect(await historyImport(settings, io, [from])).toBe(0)
    expect(io.outLines).toEqual([
      'feed     days                      snapshots  new  ranges  skipped',
      'vpn-x4b  2026-08-21 to 2026-08-22          2    2       3        1',
      `2 snapshots are stored in ${store}`,
    ])
    expect(io.errLines).toEqual([
      expect.stringContaining('vpn-nowhere: unknown feed'),
      'skipped: vpn-x4b/2026-08-21.txt:line 2: no address, prefix or range: hello',
      'skipped: 1 line',
    ])
  })

  it('fails where there was nothing to take', async () => {
    mkdirSync(join(folder(), 'from'))
    const io = newIo()
    const settings = settingsFor('history import', { history: join(folder(), 'store') })
    expect(await historyImport(settings, io, [join(folder(), 'from')])).toBe(1)
  })
})
