// Import: days by their names, everything that cannot be used counted and named.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { loadCatalogue } from '../../build/catalogue/load-catalogue.ts'
import { storedDays } from '../../build/history/history-days.ts'
import { readHistory } from '../../build/history/read-history.ts'
import { importHistory } from '../../build/import-history.ts'
import { type Day, formatDay } from '../../src/base/day.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { day, range, today, useFolder } from './history/history-sample.ts'

const folder = useFolder()
const feeds = loadCatalogue(join(packageRoot, 'data', 'feeds'))
let from = ''
let store = ''
beforeEach(() => {
  from = join(folder(), 'from')
  store = join(folder(), 'store')
})

const write = (name: string, text: string | Uint8Array): void => {
  mkdirSync(join(from, name, '..'), { recursive: true })
  writeFileSync(join(from, name), text)
}
const run = () => importHistory(from, { store, feeds, today })

describe('import', () => {
  it('takes days from names, packed or plain, and counts bad lines', async () => {
    write('vpn-x4b/2026-08-21.txt.gz', gzipSync('198.51.101.1\n\n# note\n198.51.101.0/24\r\n'))
    write('vpn-x4b/2026-08-22.txt', '198.51.101.1\nhello\n999.1.1.1\n10.0.0.1\n2a00:1450::/64\n')
    const report = await run()
    expect(report.files).toEqual([
      { feed: 'vpn-x4b', day: day('2026-08-21'), state: 'written', rowCount: 2, dropCount: 0 },
      { feed: 'vpn-x4b', day: day('2026-08-22'), state: 'written', rowCount: 2, dropCount: 3 },
    ])
    expect(report.bad).toEqual([
      'vpn-x4b/2026-08-22.txt:line 2: no address, prefix or range: hello',
      'vpn-x4b/2026-08-22.txt:line 3: not an address, prefix or range: 999.1.1.1',
      'vpn-x4b/2026-08-22.txt:line 4: special-purpose address space: 10.0.0.1',
    ])
    expect(report.dropCount).toBe(3)
    expect(report.problems).toEqual([])
    const again = await run()
    expect(again.files.map(({ state }) => state)).toEqual(['unchanged', 'unchanged'])
  })

  it('names feeds that it does not know and files that it does not use', async () => {
    write('vpn-nowhere/2026-08-22.txt', '198.51.101.1\n')
    write('vpn-x4b/2026-02-30.txt', '198.51.101.1\n')
    write('vpn-x4b/readme.md', 'x')
    write('vpn-x4b/2026-08-23.txt', '198.51.101.1\n')
    write('vpn-x4b/2026-08-20.txt', '<!doctype html>\n')
    write('vpn-x4b/2026-08-19.txt.gz', gzipSync('198.51.101.1\n').subarray(0, 20))
    write('vpn-x4b/2026-08-18.txt', '\n')
    write('vpn-x4b/2026-08-17.txt', 'hello\n')
    const report = await run()
    expect(report.files).toEqual([])
    expect(report.unknownFeeds).toEqual(['vpn-nowhere'])
    const told = report.problems.join('\n')
    for (const words of [
      'vpn-x4b/2026-02-30.txt: is not named YYYY-MM-DD.txt.gz',
      'vpn-x4b/readme.md: is not named',
      'vpn-x4b/2026-08-23.txt: its day is in the future',
      'looks like HTML',
      'vpn-x4b/2026-08-19.txt.gz: ',
      'vpn-x4b/2026-08-18.txt: it is empty',
      'vpn-x4b/2026-08-17.txt: none of its 1 lines is valid',
    ]) {
      expect(told).toContain(words)
    }
    expect(report.problems).toHaveLength(7)
    expect(await storedDays(store, 'vpn-x4b')).toEqual([])
  })

  it('reads no file that unpacks to more than 64 MiB, keeps its day and takes the others', async () => {
    const name = 'vpn-x4b/2026-08-20.txt.gz'
    write(name, gzipSync('198.51.101.1\n'))
    await run()
    write(name, gzipSync(Buffer.alloc(100_000_000, `${'#'.repeat(4000)}\n`)))
    write('vpn-x4b/2026-08-21.txt.gz', gzipSync('198.51.101.2\n'))
    const report = await run()
    expect(report.problems).toHaveLength(1)
    expect(report.problems[0]).toMatch(
      /^vpn-x4b\/2026-08-20\.txt\.gz: .* unpacks to more than 67,108,864 bytes, .* a valid file/,
    )
    expect(report.files.map(({ day }) => formatDay(day))).toEqual(['2026-08-21'])
    expect((await storedDays(store, 'vpn-x4b')).map((day) => formatDay(day))).toEqual([
      '2026-08-20',
      '2026-08-21',
    ])
  })

  describe('acceptance', () => {
    const lines = (count: number, net: number): string =>
      Array.from({ length: count }, (_, n) => `9.${net}.${n >> 8}.${n & 255}`).join('\n')

    it.each([
      ['shrank', lines(20, 1), /it shrank by half: 20 entries, where the median .* is 300/],
      ['grew', lines(900, 1), /it grew threefold: 900 entries/],
      ['lists everything', `${lines(300, 1)}\n0.0.0.0/0`, /it lists 0\.0\.0\.0\/0/],
      ['lists a whole network', `${lines(300, 1)}\n38.0.0.0/8`, /it lists 38\.0\.0\.0\/8/],
      ['names canaries', `${lines(300, 1)}\n8.8.8.8\n1.1.1.1`, /2 of its 302 entries are on/],
    ] as const)('holds back a day that %s, and only that day', async (_, poison, why) => {
      for (let age = 4; age >= 0; age--) {
        const name = `block-ddrimus/${formatDay((today - age) as Day)}.txt`
        write(name, age === 1 ? poison : lines(300, age))
      }
      const report = await run()
      expect(report.quarantined).toEqual([expect.stringMatching(why)])
      const days = [4, 3, 2, 0].map((age) => today - age)
      expect(await storedDays(store, 'block-ddrimus')).toEqual(days)
      // The same folder is judged the same, and the operator has the last word.
      expect((await run()).quarantined).toEqual(report.quarantined)
      const forced = await importHistory(from, { store, feeds, today, force: true })
      expect(forced.quarantined).toHaveLength(1)
      expect(await storedDays(store, 'block-ddrimus')).toHaveLength(5)
    })

    it('drops a single canary, and believes a new size on its third day', async () => {
      const sizes = [300, 300, 300, 40, 40, 40, 40]
      for (const [at, size] of sizes.entries()) {
        const name = `block-ddrimus/${formatDay((today - 6 + at) as Day)}.txt`
        write(name, at === 0 ? `${lines(size, at)}\n8.8.8.8` : lines(size, at))
      }
      const report = await run()
      expect(report.bad).toEqual([expect.stringMatching(/canary: public resolver: 8\.8\.8\.8/)])
      expect(report.quarantined).toHaveLength(2)
      expect(report.files.map(({ rowCount }) => rowCount)).toEqual([300, 300, 300, 40, 40])
    })
  })

  it('corrects a day by a corrected file', async () => {
    write('vpn-x4b/2026-08-22.txt', '198.51.101.1\n')
    await run()
    write('vpn-x4b/2026-08-22.txt', '198.51.101.2\n')
    await run()
    const history = (await readHistory({ store, feeds, asOf: today })).of('vpn-x4b')
    expect(history?.markListed(range('198.51.101.1'))).toBeUndefined()
    expect(history?.markListed(range('198.51.101.2'))).toMatchObject({ firstSeen: today })
  })

  it('says what folder it wants where there is none', async () => {
    await expect(run()).rejects.toMatchObject({ code: 'history_folder', fault: 'usage' })
  })
})
