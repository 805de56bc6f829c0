// Micro-benchmarks of the lookup in this process, by tinybench: each operation over each scenario.
// An operation runs over a chunk of addresses at a time, because one lookup is shorter than the
// clock can tell. The checksum of one pass over all addresses is printed: it keeps the compiler
// from leaving work out, and the same table, seed and count always give the same one.
//
//   --table FILE         the table of the tests, or data/table/world.iprisk, by default
//   --milliseconds 1000  for each row
//   --smoke              whether it works, not how fast
//   --json               the report as JSON
//   --save               keep it in bench/runs/
//
// The report goes to standard output, progress to standard error.

import { parseArgs } from 'node:util'
import { Bench } from 'tinybench'
import { type OpenTable, openTable } from '../src/table/open.ts'
import { announcedSpace } from './announced.ts'
import { type Operation, operations } from './operation.ts'
import { tablePath, wholeOption } from './option.ts'
import { runProgram, say } from './program.ts'
import { columns } from './report.ts'
import { type RunHead, runHead, saveRun } from './run.ts'
import { type Addresses, type Scenario, defaultSeed, drawAddresses, scenarios } from './scenario.ts'

/** Addresses of a chunk: some tens of microseconds at the least. */
const chunk = 1024

interface Options {
  readonly table: string
  /** Addresses of a scenario, whole chunks. */
  readonly addresses: number
  readonly milliseconds: number
  readonly json: boolean
  readonly save: boolean
}

/** One operation on one scenario. */
interface Row {
  readonly operation: string
  readonly scenario: string
  /** For one address: the median, mean and 99th percentile over chunks. */
  readonly nsMedian: number
  readonly nsMean: number
  readonly nsP99: number
  readonly chunks: number
  readonly checksum: number
}

export interface LookupReport extends RunHead {
  readonly kind: 'lookup'
  readonly table: { readonly id: string; readonly bytes: number }
  readonly addresses: { readonly count: number; readonly seed: number }
  readonly rows: readonly Row[]
  /** What would stand beside these rows, and why it does not. */
  readonly skipped: readonly { readonly peer: string; readonly reason: string }[]
}

function readOptions(): Options {
  const text = { type: 'string' } as const
  const on = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    options: { table: text, milliseconds: text, smoke: on, json: on, save: on },
  })
  const { smoke, milliseconds } = values
  return {
    table: tablePath(values.table),
    addresses: (smoke ? 16 : 1024) * chunk,
    milliseconds: wholeOption('milliseconds', milliseconds, {
      min: 1,
      max: 3_600_000,
      otherwise: smoke ? 20 : 1000,
    }),
    json: values.json,
    save: values.save,
  }
}

async function measure(options: Options, table: OpenTable): Promise<LookupReport> {
  const { milliseconds } = options
  table.populate()
  const rows: Row[] = []
  for (const scenario of scenarios) {
    say(`${scenario.name}: drawing ${options.addresses} addresses`)
    const space = announcedSpace(table.reader.views, scenario.family)
    const count = options.addresses
    const addresses = drawAddresses(scenario, { space, count, seed: defaultSeed })
    for (const operation of operations) {
      rows.push(await measureRow({ operation, scenario, table, addresses, milliseconds }))
    }
  }
  return {
    ...runHead(process.argv.slice(2)),
    kind: 'lookup',
    table: { id: table.id, bytes: table.bytes },
    addresses: { count: options.addresses, seed: defaultSeed },
    rows,
    skipped: [{ peer: 'maxmind', reason: 'the npm package is no dependency of this project' }],
  }
}

async function measureRow(options: {
  readonly operation: Operation
  readonly scenario: Scenario
  readonly table: OpenTable
  readonly addresses: Addresses
  readonly milliseconds: number
}): Promise<Row> {
  const { operation, scenario, table, addresses, milliseconds } = options
  const pass = operation.prepare(table, addresses)
  const checksum = pass(0, addresses.count)
  let first = 0
  let sink = 0
  const bench = new Bench({ time: milliseconds, warmupTime: Math.ceil(milliseconds / 4) })
  bench.add(operation.name, () => {
    sink ^= pass(first, first + chunk)
    first = (first + chunk) % addresses.count
  })
  const [task] = await bench.run()
  const result = task?.result
  if (result?.state !== 'completed') {
    throw new Error(`${operation.name} on ${scenario.name} did not complete (sum ${sink}).`)
  }
  const { latency } = result
  const nanoseconds = (chunkMs: number): number => (chunkMs * 1_000_000) / chunk
  return {
    operation: operation.name,
    scenario: scenario.name,
    nsMedian: nanoseconds(latency.p50),
    nsMean: nanoseconds(latency.mean),
    nsP99: nanoseconds(latency.p99),
    chunks: latency.samplesCount,
    checksum,
  }
}

function lookupText(report: LookupReport): string {
  const { machine, table, rows, skipped } = report
  const titleOf = (name: string): string =>
    operations.find((operation) => operation.name === name)?.title ?? ''
  const cells = rows.map((row) => [
    `${row.operation} (${titleOf(row.operation)})`,
    row.scenario,
    ...[row.nsMedian, row.nsMean, row.nsP99].map((ns) => ns.toFixed(1)),
    row.checksum.toString(16).padStart(8, '0'),
  ])
  return [
    `${machine.cpu}, Node ${machine.node}; table ${table.id}`,
    `${report.addresses.count} addresses a scenario, seed ${report.addresses.seed}`,
    '',
    ...columns([['operation', 'scenario', 'ns', 'mean', 'p99', 'checksum'], ...cells]),
    ...skipped.map(({ peer, reason }) => `skipped: ${peer} (${reason})`),
  ].join('\n')
}

async function main(): Promise<number> {
  const options = readOptions()
  const table = openTable(options.table)
  try {
    const report = await measure(options, table)
    process.stdout.write(`${options.json ? JSON.stringify(report) : lookupText(report)}\n`)
    if (options.save) say(`kept in ${saveRun(report, 'lookup')}`)
    return 0
  } finally {
    table.close()
  }
}

await runProgram(main)
