// The table of metrics in docs/operate.md is what a server exports: every name, its type, its
// labels and its help, and nothing besides.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { createPrometheusText } from '../../../src/admin/metrics/prometheus-text.ts'
import { familiesIn } from '../exposition.ts'
import { tableRefusalCodes } from '../../../src/supervisor/tables/table-refusal.ts'
import { gathered, noRefusals } from '../gathered.ts'

const document = readFileSync(join(packageRoot, 'docs/operate.md'), 'utf8')
const read = async (of = gathered): Promise<string> => createPrometheusText().text(of)

describe('the metrics', () => {
  it('are those of the document, in its words', async () => {
    const rows = familiesIn(await read()).map(
      ({ name, type, labels, help }) =>
        `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`,
    )
    const documented = document.split('\n').filter((line) => /^\| `\w+` \| \w+ \|/.test(line))
    expect(documented.toSorted()).toEqual(rows.toSorted())
  })

  it('say their unit last, in seconds and bytes, and end counters with total', async () => {
    for (const { name, type } of familiesIn(await read())) {
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter'])
      expect(name).not.toMatch(/_(ms|millis|milliseconds|kb|mb|percent)(_|$)/)
      expect(name).toMatch(/^(iprisk|process)_[a-z0-9_]+$/)
    }
  })

  it('show no 0 for what has not been', async () => {
    const tables = {
      ...gathered.tables,
      swaps: 0,
      refusals: 0,
      refusals_by: noRefusals,
      last_swap: null,
      last_refusal: null,
    }
    const text = await read({ ...gathered, table: undefined, tables, refresh: undefined })
    expect(text).not.toMatch(/iprisk_table_age|iprisk_refresh_|last_swap|last_refusal/)
    expect(text).toContain('iprisk_table_swaps_total 0')
    // A rate of what is not there yet would miss the first one.
    for (const code of tableRefusalCodes)
      expect(text).toContain(`iprisk_table_refusals_total{reason="${code}"} 0\n`)
  })

  it('turn milliseconds into seconds', async () => {
    const text = await read()
    expect(text).toContain('iprisk_table_last_swap_duration_seconds 1.5\n')
    expect(text).toContain(`iprisk_table_last_swap_timestamp_seconds ${gathered.now / 1000}\n`)
  })
})
