// The history is plain Parquet: a reader that shares no code with the one that wrote it finds the
// same days in it, and the query that docs/distribute.md shows gives the same answer.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { expect, it } from 'vitest'
import { openDuckDb } from '../../../build/history/duckdb.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import { day, listed, useFolder, withStore } from './history-sample.ts'

const folder = useFolder()
/** 203.0.113.1, as the document has it. */
const address = 3_405_803_777n

interface Row {
  readonly family: number
  readonly first_low: bigint
  readonly last_low: bigint
  readonly day: Date
}

const days: readonly (readonly [feed: string, day: string, ...ranges: string[]])[] = [
  ['tor-example', '2026-08-20', '203.0.113.1', '203.0.113.0/24', '2001:db8::/32'],
  ['tor-example', '2026-08-21', '203.0.113.0/24'],
  ['vpn-example', '2026-08-21', '203.0.113.1'],
  ['vpn-example', '2026-08-22', '203.0.113.2'],
]

async function fill(): Promise<void> {
  await withStore(folder(), async (store) => {
    for (const [feed, at, ...ranges] of days) {
      await store.setDay({ feed, day: day(at), listed: listed(...ranges) })
    }
  })
}

/** On which days each feed has listed the address, by hand. */
async function daysByHand(): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {}
  for (const feed of readdirSync(folder()).filter((name) => !name.startsWith('.'))) {
    for (const name of readdirSync(join(folder(), feed))) {
      const file = await asyncBufferFromFile(join(folder(), feed, name))
      const rows = (await parquetReadObjects({ file, compressors })) as unknown as readonly Row[]
      const has = rows.filter(({ family, first_low: first, last_low: last }) => {
        return family === 4 && first <= address && address <= last
      })
      expect(has.every((row) => row.day.toISOString().slice(0, 10) === name.slice(0, 10))).toBe(
        true,
      )
      if (has.length > 0) found[feed] = (found[feed] ?? 0) + 1
    }
  }
  return found
}

async function daysByQuery(): Promise<Readonly<Record<string, number>>> {
  const document = readFileSync(join(packageRoot, 'docs/distribute.md'), 'utf8')
  const [, query = ''] = /```sql\n-- DuckDB\n([^`]*)```/.exec(document) ?? []
  expect(query).toContain('data/history/*/*.parquet')
  const duck = await openDuckDb({ spill: folder() })
  try {
    const rows = await duck.all(query.replace('data/history', folder()))
    return Object.fromEntries(rows.map(([feed, count]) => [String(feed), Number(count)]))
  } finally {
    await duck.close()
  }
}

it('a reader of another make finds what the documented query finds', async () => {
  await fill()
  const found = await daysByHand()
  expect(found).toEqual({ 'tor-example': 2, 'vpn-example': 1 })
  expect(await daysByQuery()).toEqual(found)
})
