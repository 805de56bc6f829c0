// Micro-benchmarks of the lookup: this product's operations, the same search in C, and the readers
// of MMDB files, over every scenario (scenario.ts), interleaved: in each round each subject is
// measured once on the scenario at hand, the order turned each time. What is reported is the median
// of the rounds' medians.
//
// Checksums keep the compiler from leaving work out, and compare: subjects of one group must find
// the same; and the table must find the same country as the MMDB files that its places come from.
//
//   --table FILE         the table of the tests, or data/table/world.iprisk, by default
//   --milliseconds 25    for each row in each round
//   --rounds 5
//   --scenarios TEXT     only those whose name has this in it
//   --own                without the other implementations
//   --smoke              whether it works, not how fast
//   --json               the report as JSON
//   --save               keep it in bench/runs/
//
// The report goes to standard output, progress to standard error. Exit code 1 where a checksum
// differs.

import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import {
  type PreparedScenario,
  type BenchSubject,
  type Timing,
  chunkAddresses,
  prepareInProcess,
} from './lookups/measure.ts'
import { operations } from './lookups/operation.ts'
import { interleave } from '../harness/interleave.ts'
import { usageError } from '../../src/base/coded-error.ts'
import { tablePath, readFlags } from '../harness/option.ts'
import { compilerFlags, compilerVersion } from '../harness/c/compile-c.ts'
import { type Agreement, compareCountries, maxmindReaders, nodeSubjects } from './peer/mmdb.ts'
import { mmdbSubjects, tableSubjects } from './peer/native.ts'
import {
  copyTable,
  runProgram,
  logProgress,
  temporaryFolder,
  showReport,
} from '../harness/program.ts'
import { type RunHead, runHead } from '../harness/run.ts'
import {
  type Addresses,
  type Scenario,
  defaultSeed,
  drawAddresses,
  scenarios,
  spaceOfScenario,
} from './lookups/scenario.ts'
import { median } from '../harness/statistics.ts'
import { partText } from './report/markdown.ts'

/** One subject on one scenario. */
export interface LookupRow {
  readonly subject: string
  readonly scenario: string
  /** Nanoseconds for one address: the medians over the rounds. */
  readonly nsMedian: number
  readonly nsMean: number
  readonly nsP99: number
  /** The median of each round. */
  readonly rounds: readonly number[]
  readonly chunks: number
  readonly checksum: number
}

export interface LookupReport extends RunHead {
  readonly kind: 'lookup'
  readonly table: {
    readonly id: string
    readonly bytes: number
    readonly pieces: readonly number[]
  }
  readonly addresses: { readonly count: number; readonly seed: number }
  readonly compiler: string | null
  readonly subjects: readonly {
    readonly name: string
    readonly title: string
    readonly group: string | null
  }[]
  readonly rows: readonly LookupRow[]
  /** Countries of the table beside those of the MMDB files. */
  readonly agreement: readonly Agreement[]
  /** What of this went wrong, a sentence each. */
  readonly faults: readonly string[]
  /** What would stand beside these rows, and why it does not. */
  readonly skipped: readonly { readonly peer: string; readonly reason: string }[]
}

function readOptions() {
  const { smoke, ...flags } = readFlags({
    numbers: {
      milliseconds: { max: 3_600_000, otherwise: 25, smoke: 1 },
      rounds: { max: 1000, otherwise: 5, smoke: 1 },
    },
    texts: ['table', 'scenarios'],
    switches: ['own', 'smoke', 'json', 'save'],
  })
  const wanted = flags.scenarios ?? ''
  const chosen = scenarios.filter(({ name }) => name.includes(wanted))
  if (chosen.length === 0) throw usageError(`No scenario has "${wanted}" in its name.`)
  return {
    ...flags,
    table: tablePath(flags.table),
    // Whole chunks of a scenario.
    addresses: (smoke ? 8 : 512) * chunkAddresses,
    scenarios: chosen,
  }
}

type Options = ReturnType<typeof readOptions>

function ownSubjects(table: OpenTable): readonly BenchSubject[] {
  return operations.map(({ name, title, prepare }) => ({
    name,
    title,
    ...(name === 'search' ? { group: 'record' } : {}),
    ...(name === 'locate' || name === 'find' ? { group: 'located' } : {}),
    prepare: (scenario, addresses) =>
      prepareInProcess(name, scenario, { addresses, step: prepare(table, addresses) }),
  }))
}

interface Peers {
  readonly subjects: readonly BenchSubject[]
  readonly skipped: LookupReport['skipped']
}

async function findPeers(table: OpenTable, folder: string): Promise<Peers> {
  const found = [
    ['the same search in C', await tableSubjects(table, folder)],
    ['libmaxminddb', await mmdbSubjects(folder)],
  ] as const
  return {
    subjects: [
      ...found.flatMap(([, it]) => ('value' in it ? it.value : [])),
      ...(await nodeSubjects()),
    ],
    skipped: found.flatMap(([peer, it]) => ('reason' in it ? [{ peer, reason: it.reason }] : [])),
  }
}

async function measure(options: Options, table: OpenTable, folder: string): Promise<LookupReport> {
  table.populate()
  const peers: Peers = options.own
    ? { subjects: [], skipped: [{ peer: 'all other implementations', reason: '--own' }] }
    : await findPeers(table, folder)
  const subjects = [...ownSubjects(table), ...peers.subjects]
  const rows: LookupRow[] = []
  const drawings = newDrawings(table, options.addresses)
  try {
    for (const scenario of options.scenarios) {
      logProgress(scenario.name)
      rows.push(...(await measureScenario({ ...options, scenario, subjects, drawings })))
    }
  } finally {
    for (const { end } of subjects) await end?.()
  }
  const countries = options.own ? undefined : await maxmindReaders()
  const agreement =
    countries === undefined
      ? []
      : options.scenarios
          .filter(({ distribution, cold }) => distribution === 'uniform' && !cold)
          .map((scenario) => compareCountries(table, countries, scenario, drawings(scenario)))
  const { views } = table.reader
  return {
    ...runHead(process.argv.slice(2)),
    kind: 'lookup',
    table: {
      id: table.id,
      bytes: table.bytes,
      pieces: [views.ipv4_starts.length, views.ipv6_keys.length],
    },
    addresses: { count: options.addresses, seed: defaultSeed },
    compiler:
      compilerVersion() === undefined ? null : `${compilerVersion()} ${compilerFlags.join(' ')}`,
    subjects: subjects.map(({ name, title, group = null }) => ({ name, title, group })),
    rows,
    agreement,
    faults: [...checksumFaults(subjects, rows), ...agreement.flatMap(({ faults }) => faults)],
    skipped: peers.skipped,
  }
}

type Drawings = (scenario: Scenario) => Addresses

/** Scenarios that differ in what is done with the addresses have the same ones. */
function newDrawings(table: OpenTable, count: number): Drawings {
  const drawn = new Map<string, Addresses>()
  return (scenario) => {
    const { family, distribution, miss } = scenario
    const name = `${family} ${distribution === 'dependent' ? 'uniform' : distribution} ${miss}`
    const known = drawn.get(name)
    if (known !== undefined) return known
    const space = spaceOfScenario(table.reader.views, scenario)
    const addresses = drawAddresses(scenario, { space, count, seed: defaultSeed })
    drawn.set(name, addresses)
    return addresses
  }
}

async function measureScenario(options: {
  readonly scenario: Scenario
  readonly subjects: readonly BenchSubject[]
  readonly drawings: Drawings
  readonly rounds: number
  readonly milliseconds: number
}): Promise<readonly LookupRow[]> {
  const { scenario, subjects, drawings, rounds, milliseconds } = options
  const addresses = drawings(scenario)
  const own: {
    subject: string
    checksum: number
    prepared: PreparedScenario
    timings: Timing[]
  }[] = []
  for (const subject of subjects) {
    const prepared = await subject.prepare(scenario, addresses)
    own.push({ subject: subject.name, checksum: await prepared.sum(), prepared, timings: [] })
  }
  await interleave(own, rounds, async ({ prepared, timings }) => {
    timings.push(await prepared.time(milliseconds))
  })
  return own.map(({ subject, checksum, timings }) => {
    const over = (of: (timing: Timing) => number): number => median(timings.map(of))
    return {
      subject,
      scenario: scenario.name,
      nsMedian: over(({ nsMedian }) => nsMedian),
      nsMean: over(({ nsMean }) => nsMean),
      nsP99: over(({ nsP99 }) => nsP99),
      rounds: timings.map(({ nsMedian }) => nsMedian),
      chunks: timings.reduce((sum, { chunks }) => sum + chunks, 0),
      checksum,
    }
  })
}

/** Subjects of one group that did not find the same. */
function checksumFaults(
  subjects: readonly BenchSubject[],
  rows: readonly LookupRow[],
): readonly string[] {
  const groupOf = new Map(subjects.map(({ name, group }) => [name, group]))
  const first = new Map<string, LookupRow>()
  return rows.flatMap((row) => {
    const group = groupOf.get(row.subject)
    if (group === undefined) return []
    const key = `${group} ${row.scenario}`
    const other = first.get(key) ?? row
    first.set(key, other)
    return other.checksum === row.checksum
      ? []
      : [`${row.subject} and ${other.subject} do not find the same on ${row.scenario}`]
  })
}

async function main(): Promise<number> {
  const options = readOptions()
  const folder = temporaryFolder('lookup')
  // As a server maps it: by which pages a file is mapped follows from how it was written.
  const table = openTable(copyTable(options.table, folder))
  try {
    const report = await measure(options, table, folder)
    showReport('lookup', report, { ...options, text: partText('lookup', report) })
    return report.faults.length === 0 ? 0 : 1
  } finally {
    table.close()
  }
}

await runProgram(main)
