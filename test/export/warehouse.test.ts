// docs/warehouse.md, run as it stands: the Parquet export joined in DuckDB to a log of a million
// visits of both families says what `check` says.

import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sqlQuote, withDuckDb } from '../../build/history/duckdb.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { exported, isLeftOut, sampleAddresses, smallTable } from './small-export.ts'

const visits = 1_000_000

/** The statements of the part on DuckDB. */
function documented(parquet: string): readonly string[] {
  const document = readFileSync(join(packageRoot, 'docs/warehouse.md'), 'utf8')
  const part = document.slice(document.indexOf('## DuckDB'), document.indexOf('## ClickHouse'))
  expect(part).toContain("'iprisk.parquet'")
  const blocks = [...part.matchAll(/^```sql\n(.*?)^```/gms)].map(([, sql = '']) => sql)
  const text = blocks.join('').replace("'iprisk.parquet'", sqlQuote(parquet))
  return text.split(/;\n/).filter((one) => one.trim() !== '')
}

/** What logs hold besides. */
const odd = ['::FFFF:9.1.2.3', '::ffff:901:203', '2A01:04F8:0::2', '-', '', '9.1.2', '999.1.1.1']

/** They carry an IPv4 one, and exports leave them out. */
const carrying = ['2002:901:203::1', '64:ff9b::901:203', '2001::1']

/** In the networks of the small table and beside them. */
const drawnVisits = (count: number): string => `insert into visits select
  if(i % 3 = 0, format('2a0{:x}:{:x}:{:x}::{:x}', i % 4, hash(i) % 65536, i % 256, hash(i + 2) % 9),
  format('{}.{}.{}.{}', 8 + i % 8, hash(i) % 256, hash(i + 1) % 256, i % 256)), i % 97 = 0
  from range(${count}) t(i)`

it('says of a million visits what check says', async () => {
  const spill = mkdtempSync(join(tmpdir(), 'iprisk-warehouse-'))
  const out = join(spill, 'iprisk.parquet')
  await exported({ format: 'parquet', out, fields: ['classification', 'risk_score'] })
  const sample = [...sampleAddresses(1000).filter((ip) => !isLeftOut(ip)), ...odd, ...carrying]
  await withDuckDb({ spill }, async (duck) => {
    const values = sample.map((ip) => `(${sqlQuote(ip)}, true)`).join(', ')
    await duck.run(`create table visits as from (values ${values}) t(ip, is_sampled)`)
    await duck.run(drawnVisits(visits - sample.length))
    const statements = documented(out)
    for (const statement of statements) await duck.run(statement)
    expect(await duck.all('select count(*)::int from judged')).toEqual([[visits]])
    const said = await duck.all(
      'select ip, classification, risk_score from judged where is_sampled',
    )
    expect(said.length).toBeGreaterThan(10_000)
    const wrong = said.filter(([ip, classification, score]) => {
      const answer = carrying.includes(String(ip)) ? undefined : smallTable.check(String(ip))
      return (
        classification !== (answer?.classification ?? null) ||
        score !== (answer?.risk_score ?? null)
      )
    })
    expect(wrong).toEqual([])
    const [first] = await duck.all(statements.at(-1)!)
    expect(Number(first?.[1])).toBeGreaterThan(visits / 2)
  })
})
