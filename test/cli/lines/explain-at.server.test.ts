// `explain --at DAY`: by the table that the days of the history make, which is made once; refused
// where the history does not reach. That it answers as a build of that day is the proof `past-days`
// (test/build/past-days.world.test.ts).

import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Day } from '../../../src/base/day.ts'
import type { PastDay } from '../../../src/api/admin-answers.ts'
import { before, listed, now, writeListedDays } from '../../build/history/listed-days.ts'
import { withStore } from '../../build/history/history-sample.ts'
import { removeFolder } from '../../remove-folder.ts'
import { newFolder, runHere } from '../program.ts'

let cwd = ''
let past = ''

beforeAll(async () => {
  cwd = newFolder()
  past = join(cwd, 'data/history/.past')
  await writeListedDays(cwd)
})
afterAll(() => removeFolder(cwd))

const explain = (address: string, day: string, more: readonly string[] = []) =>
  runHere(['explain', address, '--at', day, ...more], { cwd })
const kept = (): readonly string[] => readdirSync(past).toSorted()

/** Feeds that name the address as on a day. */
async function feedsOf(address: string, day: string): Promise<readonly string[]> {
  const { code, out, err } = await explain(address, day, ['--json'])
  expect(code, err).toBe(0)
  const { insights, left_out: leftOut } = JSON.parse(out) as PastDay
  expect(insights.table.as_of).toBe(day)
  expect(leftOut).toContain('tor-exits-onionoo')
  expect(leftOut).not.toContain('vpn-mullvad')
  return insights.evidence.map(({ feed }) => feed)
}

it('judges as on that day, and names what it knows of no day', async () => {
  expect(await feedsOf('11.1.0.2', before(9))).toContain('vpn-mullvad')
  expect(await feedsOf('11.1.0.3', before(9))).not.toContain('vpn-mullvad')
  const { out, err } = await explain('11.1.0.2', before(9))
  expect(out).toContain('AS16276')
  expect(err).toContain(`As of ${before(9)}: each feed's newest day up to then`)
  expect(err).toMatch(/Left out, because they have no snapshot up to that day: .* and \d+ more/)
  expect(err).not.toContain('vpn-mullvad')
})

it('makes a table once, one of a day between two lists, too, and keeps the newest five', async () => {
  const [name = ''] = kept()
  const { mtimeMs } = statSync(join(past, name))
  expect((await explain('11.1.0.1', before(9))).err).not.toContain('verdicts')
  expect(kept()).toEqual([name])
  expect(statSync(join(past, name)).mtimeMs).toBe(mtimeMs)
  for (let at = 0; at < 5; at++) {
    writeFileSync(join(past, `older-${at}`), '')
    utimesSync(join(past, `older-${at}`), at + 1, at + 1)
  }
  expect(await feedsOf('11.1.0.7', before(2))).toContain('vpn-mullvad')
  expect(kept()).toEqual([
    expect.stringContaining(before(9)),
    expect.stringContaining(before(2)),
    'older-2',
    'older-3',
    'older-4',
  ])
})

it('makes it anew where a day of its past has changed', async () => {
  const old = kept()
  await withStore(join(cwd, 'data/history'), async (history) => {
    const day = (now - 8) as Day
    await history.addSnapshot({ feed: 'vpn-mullvad', day, listed: listed(99) })
  })
  expect(await feedsOf('11.1.0.99', before(2))).toContain('vpn-mullvad')
  expect(kept()).not.toEqual(old)
})

it.each([
  [
    'before the first day',
    before(11),
    `has days from ${before(10)} to today; ${before(11)} is not`,
  ],
  ['a day to come', before(-1), `${before(-1)} is not one of them`],
  ['no day', '2026-02-30', '--at'],
])('refuses %s', async (_what, day, why) => {
  const { code, out, err } = await explain('11.1.0.1', day)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(why)
})

it('says where there is no history', async () => {
  const { code, err } = await explain('11.1.0.1', before(1), ['--history', 'elsewhere'])
  expect(code).toBe(2)
  expect(err).toMatch(/There is no history in .*elsewhere\. Run this where tables are built/)
})
