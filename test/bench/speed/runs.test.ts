// Which of the kept runs the report is made of, and which stand beside it.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { newestRun, readRun, runsElsewhere } from '../../../bench/speed/report/kept-run.ts'
import { targetTable, targets } from '../../../bench/speed/report/target.ts'
import { runHead } from '../../../bench/harness/run.ts'

const runs = mkdtempSync(join(tmpdir(), 'iprisk-runs-'))
afterAll(() => rmSync(runs, { recursive: true }))

function keepRun(name: string, of: { readonly cpu: string; readonly at: string; short?: boolean }) {
  const { cpu, at, short = false } = of
  const head = runHead([])
  const all = { ...head, at, machine: { ...head.machine, cpu }, kind: 'all', short, skipped: [] }
  mkdirSync(join(runs, name))
  writeFileSync(join(runs, name, 'all.json'), JSON.stringify({ ...all, seconds: {} }))
}

it('is the newest definitive one; of other machines the newest definitive one each', () => {
  expect(newestRun(runs)).toBeUndefined()
  keepRun('one', { cpu: 'A', at: '2026-01-03T00:00:00Z' })
  keepRun('two', { cpu: 'B', at: '2026-01-01T00:00:00Z' })
  keepRun('three', { cpu: 'B', at: '2026-01-02T00:00:00Z' })
  keepRun('four', { cpu: 'B', at: '2026-01-04T00:00:00Z', short: true })
  keepRun('five', { cpu: 'A', at: '2026-01-01T00:00:00Z' })
  mkdirSync(join(runs, 'no run'))
  const newest = newestRun(runs)!
  expect(basename(newest)).toBe('one')
  const others = runsElsewhere(newest)
  expect(others.map(({ name }) => name)).toEqual(['three'])
  const [heads, ...rows] = targetTable(readRun(newest), others)
  expect(heads).toBe('| target | must | reach for | measured | verdict | B, 2026-01-02 |')
  expect(rows).toHaveLength(targets.length + 1)
  for (const row of rows) expect(row.split('|')).toHaveLength(8)
})
