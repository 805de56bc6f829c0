// `npm run bench -- export`: how long an export of a table takes in each format, how large it is,
// and how much memory it needs: the whole command in a process of its own, its flush included.
//
//   --table FILE   the table of the tests, or data/table/world.iprisk, by default
//   --rounds 1     the median counts
//   --smoke  --json  --save

import { join } from 'node:path'
import { cliProgram } from '../../harness/child.ts'
import { readFlags, tablePath } from '../../harness/option.ts'
import { logProgress, runProgram, showReport, temporaryFolder } from '../../harness/program.ts'
import { type RunHead, runHead } from '../../harness/run.ts'
import { median } from '../../harness/statistics.ts'
import { timedProgram } from '../../harness/timed-program.ts'

const risky = ['--where', 'signals.tor || risk_score >= 75']

/** What operators make, one row each. */
const exports: readonly (readonly [name: string, options: readonly string[]])[] = [
  ['mmdb, layout iprisk', ['--format', 'mmdb']],
  ['mmdb, layout anonymous-ip', ['--format', 'mmdb', '--layout', 'anonymous-ip']],
  ['mmdb, layout city', ['--format', 'mmdb', '--layout', 'city']],
  ['mmdb, layout asn', ['--format', 'mmdb', '--layout', 'asn']],
  ['csv, default fields', ['--format', 'csv']],
  ['parquet, default fields', ['--format', 'parquet']],
  ['nginx, score 75 and Tor', ['--format', 'nginx', ...risky]],
  ['haproxy, score 75 and Tor', ['--format', 'haproxy', ...risky]],
  ['ipset, score 75 and Tor', ['--format', 'ipset', ...risky]],
  ['nft, score 75 and Tor', ['--format', 'nft', ...risky]],
]

export interface ExportBenchReport extends RunHead {
  readonly kind: 'export'
  readonly rows: readonly {
    readonly name: string
    readonly rows: number
    readonly bytes: number
    readonly seconds: number
    readonly peakBytes: number
  }[]
}

async function measure(table: string, rounds: number, folder: string): Promise<ExportBenchReport> {
  const rows: ExportBenchReport['rows'][0][] = []
  for (const [name, options] of exports) {
    const out = join(folder, 'export')
    const command = ['export', '--table', table, '--out', out, '--json', ...options]
    const runs: Awaited<ReturnType<typeof timedProgram>>[] = []
    for (let round = 0; round < rounds; round++) {
      runs.push(await timedProgram([cliProgram, ...command], folder))
    }
    const said = JSON.parse(runs.at(-1)!.output) as {
      readonly rows: number
      readonly bytes: number
    }
    rows.push({
      name,
      rows: said.rows,
      bytes: said.bytes,
      seconds: median(runs.map(({ seconds }) => seconds)),
      peakBytes: median(runs.map(({ peakBytes }) => peakBytes)),
    })
    logProgress(name)
  }
  return { ...runHead(process.argv.slice(2)), kind: 'export', rows }
}

async function main(): Promise<number> {
  const { rounds, table, json, save } = readFlags({
    numbers: { rounds: { max: 20, otherwise: 1 } },
    texts: ['table'],
    switches: ['smoke', 'json', 'save'],
  })
  const report = await measure(tablePath(table), rounds, temporaryFolder('export'))
  showReport('export', report, { json, save })
  return 0
}

await runProgram(main)
