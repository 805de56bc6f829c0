// Entries of feeds by day, as they are kept.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import type { Day } from '../../src/base/day.ts'
import { openFeedDays } from '../../src/console/feed-days.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-feed-days-'))
afterAll(() => rmSync(folder, { recursive: true }))
const log = createLog({ level: 'silent', name: 'test', pretty: false })

const tableOf = (day: number, counts: Readonly<Record<string, number>>) => ({
  asOf: day as Day,
  sources: Object.entries(counts).map(([id, entries]) => {
    return { id, entries, day: day as Day, quarantined: false }
  }),
})

it('keeps sixty days, over restarts, and starts anew where the file is another one', async () => {
  const path = join(folder, 'feed-days.json')
  writeFileSync(path, 'not ours')
  const file = openFeedDays(folder, log)
  expect(file.days()).toEqual({})
  await file.note(undefined)
  await file.note(tableOf(100, { tor: 5, vpn: 7 }))
  await file.note(tableOf(101, { tor: 6 }))
  expect(file.days()).toEqual({ tor: { 100: 5, 101: 6 }, vpn: { 100: 7 } })
  expect(openFeedDays(folder, log).days()).toEqual(file.days())
  await file.note(tableOf(160, { tor: 9 }))
  expect(file.days()).toEqual({ tor: { 101: 6, 160: 9 } })
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(file.days())
})
