// Feedback as Parquet: read back by DuckDB it is what was reported, and it follows the lines.

import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { exportOutcomes } from '../../build/export-outcomes.ts'
import { openDuckDb, readParquetSql } from '../../build/history/duckdb.ts'
import { appendOutcomes, eraseOutcomes, pruneOutcomes } from '../../src/feedback/feedback-files.ts'
import type { Outcome } from '../../src/feedback/outcome.ts'

const root = mkdtempSync(join(tmpdir(), 'iprisk-outcomes-'))
afterAll(() => rmSync(root, { recursive: true }))
const [state, folder] = [join(root, 'state'), join(root, 'parquet')]

const dayMs = 86_400_000
const noonMs = Date.parse('2026-08-22T12:00:00.123Z')

const outcomesOf = (count: number): readonly Outcome[] =>
  Array.from({ length: count }, (_, i) => ({
    address: i % 2 === 0 ? `192.0.2.${i % 256}` : `2001:db8::${i.toString(16)}`,
    outcome: i % 3 === 0 ? 'abusive' : 'legitimate',
    atMs: noonMs - i * 1000,
    note: i % 5 === 0 ? `it’s "ticket" ${i}; a\\b` : '',
  }))

async function rowsOf(day: string): Promise<readonly (readonly unknown[])[]> {
  const duck = await openDuckDb({ spill: root })
  try {
    const table = readParquetSql([join(folder, `${day}.parquet`)])
    return await duck.all(
      `select ip, outcome, epoch_ms("at"), epoch_ms(received), key_id, note from ${table}`,
    )
  } finally {
    await duck.close()
  }
}

describe('outcomes as Parquet', () => {
  it('are what was reported, by the day on which it came in', async () => {
    const outcomes = outcomesOf(5000)
    await appendOutcomes(state, outcomes, { keyId: 'k1', receivedMs: noonMs })
    await appendOutcomes(state, outcomesOf(2), { keyId: 'import', receivedMs: noonMs + dayMs })
    expect(await exportOutcomes(state, folder)).toEqual([
      { day: '2026-08-22', state: 'written', outcomes: 5000 },
      { day: '2026-08-23', state: 'written', outcomes: 2 },
    ])
    expect(await rowsOf('2026-08-22')).toEqual(
      outcomes.map(({ address, outcome, atMs, note }) => [
        address,
        outcome,
        BigInt(atMs),
        BigInt(noonMs),
        'k1',
        note,
      ]),
    )
    expect(readdirSync(folder).sort()).toEqual(['2026-08-22.parquet', '2026-08-23.parquet'])
  })

  it('are rewritten only where lines have come, were erased or pruned', async () => {
    writeFileSync(join(folder, 'mine.txt'), 'stays')
    const file = join(folder, '2026-08-22.parquet')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const before = statSync(file).ino
    expect((await exportOutcomes(state, folder)).map(({ state }) => state)).toEqual([
      'unchanged',
      'unchanged',
    ])
    expect(statSync(file).ino).toBe(before)
    const { outcomes: erased } = await eraseOutcomes(state, '192.0.2.2')
    expect(erased).toBeGreaterThan(1)
    expect(await exportOutcomes(state, folder)).toEqual([
      { day: '2026-08-22', state: 'written', outcomes: 5000 - erased },
      { day: '2026-08-23', state: 'unchanged', outcomes: 2 },
    ])
    expect((await rowsOf('2026-08-22')).map(([ip]) => ip)).not.toContain('192.0.2.2')
    await pruneOutcomes(state, 1, noonMs + dayMs)
    writeFileSync(join(folder, '2026-08-23.parquet'), 'damaged')
    expect(await exportOutcomes(state, folder)).toEqual([
      { day: '2026-08-22', state: 'removed', outcomes: 0 },
      { day: '2026-08-23', state: 'written', outcomes: 2 },
    ])
    expect(readdirSync(folder).sort()).toEqual(['2026-08-23.parquet', 'mine.txt'])
  })

  it('stay if the state folder is a wrong one without outcomes', async () => {
    const copy = mkdtempSync(join(root, 'copy-'))
    for (const name of ['2026-08-22.parquet', '.2026-08-22.parquet.1.x.tmp']) {
      writeFileSync(join(copy, name), 'good')
    }
    await expect(exportOutcomes(join(root, 'none'), copy)).rejects.toMatchObject({
      code: 'feedback_none',
      fault: 'input',
    })
    expect(readdirSync(copy)).toContain('2026-08-22.parquet')
    // What a killed run left goes, for it holds addresses.
    await exportOutcomes(state, copy)
    expect(readdirSync(copy).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('are none where nothing was reported', async () => {
    expect(await exportOutcomes(join(root, 'none'), join(root, 'empty'))).toEqual([])
  })
})
