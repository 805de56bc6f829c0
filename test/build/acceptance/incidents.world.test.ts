// Incidents that operators of such lists have had, as an operator meets them: day after day by the
// command line, from a mirror that goes wrong. Nothing poisoned is in any table, and a new size is
// believed on the third day.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type FolderServer, serveFolder } from '../../../bench/harness/site.ts'
import { writeSampleWorkspace } from '../../../bench/faults/compiler/sample.ts'
import type { BuildReport } from '../../../build/build-report.ts'
import { type Day, formatDay, parseDay } from '../../../src/base/day.ts'
import { newFolder, runProgram } from '../../cli/program.ts'
import { addresses } from './acceptance-sample.ts'

const folder = newFolder()
const workspace = join(folder, 'work')
const publisher = join(folder, 'publisher')
const usual = addresses(1000, 1)
const others = addresses(1000, 2)
let mirror: FolderServer
let today = parseDay('2026-08-01') as Day

beforeAll(async () => {
  mirror = await serveFolder(publisher)
  writeSampleWorkspace(workspace, mirror.url)
  await nextDay(usual)
})
afterAll(() => {
  mirror.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Publishes the blocklist of the next day and builds; gives what became of that feed. */
async function nextDay(list: readonly string[] | string) {
  const lists = { 'block-ddrimus/blocklist.txt': list, 'vpn-tunnelbear/tunnelbear_ips.txt': others }
  for (const [path, own] of Object.entries(lists)) {
    mkdirSync(join(publisher, path, '..'), { recursive: true })
    writeFileSync(join(publisher, path), typeof own === 'string' ? own : `${own.join('\n')}\n`)
  }
  today = (today + 1) as Day
  const date = formatDay(today)
  const days = ['block-ddrimus', 'vpn-tunnelbear'].map((id) => ({ id, snapshot_date: date }))
  writeFileSync(join(publisher, 'feeds.json'), JSON.stringify(days))
  const { code, err } = await runProgram(['build', '--as-of', date], { cwd: workspace })
  expect(code, err).toBe(0)
  const report = JSON.parse(readFileSync(join(workspace, 'report.json'), 'utf8')) as BuildReport
  return { err, feed: report.feeds.find(({ id }) => id === 'block-ddrimus') }
}

/** Which of the addresses a blocklist names, in one call. */
async function listedOf(...texts: readonly string[]): Promise<readonly boolean[]> {
  const { out } = await runProgram(['check', '--json', ...texts], { cwd: workspace })
  return out
    .trimEnd()
    .split('\n')
    .map((line) => {
      const answer = JSON.parse(line) as { readonly signals: Record<string, boolean> }
      return answer.signals['blocklist_match'] === true
    })
}

it.each([
  ['carries 38.0.0.0/8', [...usual, '38.0.0.0/8'], '38.1.2.3'],
  ['carries 0.0.0.0 and 1.1.1.1', [...usual, '0.0.0.0', '1.1.1.1'], '1.1.1.1'],
  ['carries everything', [...usual, '0.0.0.0/0'], '9.77.0.1'],
  ['shrank to a tenth', [...usual.slice(0, 99), '9.78.0.1'], '9.78.0.1'],
  ['grew fourfold', [...usual, ...addresses(3000, 79)], '9.79.0.1'],
  ['is an HTML page', '<!doctype html><title>9.80.0.1</title>\n9.80.0.1\n', '9.80.0.1'],
  ['is empty', '', '9.81.0.1'],
] as const)('a list that %s is not used; what it said before is', async (_, list, poisoned) => {
  const { err, feed } = await nextDay(list)
  expect(feed?.entries).toBe(1000)
  expect(err).toContain('block-ddrimus')
  expect(await listedOf(usual[7] ?? '', poisoned)).toEqual([true, false])
})

it('believes a new size on its third day', async () => {
  const few = addresses(100, 3)
  const entries: (number | undefined)[] = []
  await nextDay(usual)
  for (let day = 0; day < 4; day++) entries.push((await nextDay(few)).feed?.entries)
  expect(entries).toEqual([1000, 1000, 100, 100])
})

it('uses a file that states that it is nine months old as of that day', async () => {
  const { feed } = await nextDay(['# Last update: 2025-11-22 02:00:00', ...addresses(100, 3)])
  expect(feed).toMatchObject({ entries: 100, day: '2025-11-22' })
})
