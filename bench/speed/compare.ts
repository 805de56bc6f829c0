// `npm run bench -- compare BASE [HEAD]`: whether HEAD (the working tree by default) is faster than
// BASE, any two commits that have bench/speed. Each is cloned, compiled by its own `npm run
// compile` and measured by its own bench/speed/{lookup,http}: lookups, and the server under load
// beside its own bare ceiling. No file of one side is loaded by the other, so files may move
// between them. Where a benchmark itself has changed, its rows show nothing about the product.
// Fresh processes and fresh copies of the tables each time (where a copy lies in memory alone makes
// a lookup a third faster or slower). Lookups of both sides run at the same time, each on a core of
// its own, which they swap each round; servers one after the other, in an order that is reversed
// each round. Medians of the rounds' ratios, the ratio of the fastest rounds, and one plain verdict
// a row. With forty rows, chance alone makes one or two look slower: what looks so is measured in
// as many rounds again, and those alone decide.
//
//   --rounds 5
//   --table FILE       the table of HEAD, and of BASE where no other is named
//   --base-table FILE  of the same inputs, where BASE cannot read that of HEAD
//   --scenarios TEXT  uniform
//   --only lookup     or http
//   --smoke           one short round
//   --json
//
// Exit code 1 where a row is slower.

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { alignColumns } from '../../src/base/text/align-columns.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { copyLargeFile } from '../../src/base/system/copy-large-file.ts'
import { runChild } from '../harness/child.ts'
import { allowedCores, hasTaskset, pinned } from './load/pin.ts'
import type { LookupReport } from './lookup.ts'
import { usageError } from '../../src/base/coded-error.ts'
import { tablePath, readFlags } from '../harness/option.ts'
import { runProgram, logProgress, temporaryFolder } from '../harness/program.ts'
import type { HttpReport } from './report/http-report.ts'
import {
  type Comparison,
  type RoundFigures,
  compareRounds,
  decideAgain,
  verdictLine,
} from './report/comparison.ts'

const compileMs = 300_000
const roundMs = 300_000

interface Side {
  readonly name: 'base' | 'head'
  readonly table: string
  readonly folder: string
}

interface Options {
  readonly rounds: number
  readonly scenarios: string
  readonly lookup: boolean
  readonly http: boolean
  readonly smoke: boolean
}

function git(...args: readonly string[]): string {
  return execFileSync('git', ['-C', packageRoot, ...args], { encoding: 'utf8' }).trim()
}

/** The commit that a name stands for. Throws `usage`. */
function commitOf(name: string): string {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`)
  } catch {
    throw usageError(`${name} is no commit of this repository.`)
  }
}

/** What is taken from the working tree, where it is a side. */
const ownPaths =
  'src build bench deploy tsconfig.json package.json data/feeds data/tables data/iana'.split(' ')

/** A clone of `commit`, or of the working tree where there is none, compiled. */
async function prepare(side: Side, commit: string | undefined): Promise<void> {
  const { folder, name } = side
  const source = git('rev-parse', '--show-toplevel')
  execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', source, folder])
  execFileSync('git', [
    '-C',
    folder,
    'checkout',
    '--quiet',
    '--detach',
    commit ?? git('rev-parse', 'HEAD'),
  ])
  for (const path of commit === undefined ? ownPaths : []) {
    rmSync(join(folder, path), { recursive: true, force: true })
    cpSync(join(packageRoot, path), join(folder, path), { recursive: true })
  }
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'))
  logProgress(`${name}: compiling ${commit?.slice(0, 10) ?? 'the working tree'}`)
  await runChild(['npm', 'run', '--silent', 'compile'], { timeoutMs: compileMs, cwd: folder })
}

type Runner = (
  program: string,
  flags: readonly string[],
  core?: readonly number[],
) => Promise<unknown>

/** Runs a side's own benchmarks on `table`. */
function runnerOf({ folder }: Side, table: string): Runner {
  return async (name, flags, cores) => {
    const program = join(folder, 'dist/bench/speed', `${name}.js`)
    const command = [process.execPath, program, '--own', '--json', '--table', table, ...flags]
    const output = await runChild(pinned(cores, command as [string, ...string[]]), {
      timeoutMs: roundMs,
      cwd: folder,
    })
    return JSON.parse(output)
  }
}

async function measureLookups(
  run: Runner,
  cores: readonly number[] | undefined,
  { smoke, scenarios }: Options,
): Promise<Record<string, number>> {
  const length = smoke ? ['--smoke'] : ['--rounds', '3', '--milliseconds', '20']
  const report = (await run('lookup', ['--scenarios', scenarios, ...length], cores)) as LookupReport
  const figures = report.rows.map((row) => [`${row.subject}, ${row.scenario}, ns`, row.nsMedian])
  return Object.fromEntries(figures) as Record<string, number>
}

async function measureHttp(run: Runner, { smoke }: Options): Promise<Record<string, number>> {
  const length = smoke ? ['--smoke'] : ['--seconds', '6', '--rounds', '2']
  const { variants } = (await run('http', length)) as HttpReport
  const iprisk = variants.find(({ name }) => name === 'iprisk')
  if (iprisk === undefined) return {}
  const cpu = iprisk.cpuUsPerRequest
  return {
    'HTTP check, times as slow as bare': 1 / iprisk.ratioToBare,
    ...(cpu === null ? {} : { 'HTTP check, CPU µs a request': cpu }),
  }
}

/** One round: figures of both sides by name, of which less is better. */
async function measureRound(
  sides: readonly Side[],
  options: Options,
): Promise<Record<Side['name'], RoundFigures>> {
  const cores = hasTaskset() ? allowedCores() : []
  const runners = sides.map((side) => {
    const copy = join(side.folder, `round-${randomUUID()}.iprisk`)
    copyLargeFile(side.table, copy)
    return { name: side.name, copy, run: runnerOf(side, copy) }
  })
  const figures = { base: {}, head: {} } as Record<Side['name'], Record<string, number>>
  if (options.lookup) {
    const measured = runners.map(({ name, run }, i) => async (): Promise<void> => {
      const own = cores.length < 2 ? undefined : [cores[i]!]
      Object.assign(figures[name], await measureLookups(run, own, options))
    })
    if (cores.length < 2) for (const measure of measured) await measure()
    else await Promise.all(measured.map((measure) => measure()))
  }
  if (options.http) {
    for (const { name, run } of runners)
      Object.assign(figures[name], await measureHttp(run, options))
  }
  for (const { copy } of runners) rmSync(copy)
  return figures
}

async function measureRounds(
  sides: readonly Side[],
  options: Options,
): Promise<Record<Side['name'], readonly RoundFigures[]>> {
  const samples = { base: [] as RoundFigures[], head: [] as RoundFigures[] }
  for (let round = 0; round < options.rounds; round++) {
    const order = round % 2 === 0 ? sides : sides.toReversed()
    logProgress(`round ${round + 1}: ${order.map(({ name }) => name).join(', ')}`)
    const figures = await measureRound(order, options)
    for (const side of sides) samples[side.name].push(figures[side.name])
  }
  return samples
}

/** What measures the rows that look slower; `undefined` where none does. */
function suspectsOf(comparisons: readonly Comparison[], options: Options): Options | undefined {
  const slower = comparisons.filter(({ verdict }) => verdict === 'slower')
  if (slower.length === 0) return undefined
  const lookups = slower.filter(({ name }) => !name.startsWith('HTTP'))
  // A row of lookups is named `subject, scenario, ns`.
  const scenarios = new Set(lookups.flatMap(({ name }) => name.split(', ')[1] ?? []))
  return {
    ...options,
    http: lookups.length < slower.length,
    lookup: lookups.length > 0,
    scenarios: scenarios.size === 1 ? [...scenarios][0]! : options.scenarios,
  }
}

function textOf(comparisons: readonly Comparison[]): string {
  const cells = comparisons.map(({ name, base, head, ratio, best, lowest, highest, verdict }) => [
    name,
    verdict,
    ...[base, head].map((value) => value.toFixed(2)),
    ...[ratio, best, lowest, highest].map((value) => value.toFixed(3)),
  ])
  const title = ['what', 'verdict', 'base', 'head', 'head/base', 'fastest', 'lowest', 'highest']
  return [...alignColumns([title, ...cells], 2), '', verdictLine(comparisons)].join('\n')
}

async function main(): Promise<number> {
  const { only, smoke, rounds, positionals, ...flags } = readFlags({
    numbers: { rounds: { max: 100, otherwise: 5, smoke: 1 } },
    texts: ['table', 'base-table', 'scenarios', 'only'],
    switches: ['smoke', 'json'],
    positionals: true,
  })
  const [base, head] = positionals
  if (base === undefined || positionals.length > 2) {
    throw usageError('Name the commit to compare with: npm run bench -- compare BASE [HEAD].')
  }
  if (only !== undefined && only !== 'lookup' && only !== 'http') {
    throw usageError('--only must be lookup or http.')
  }
  const commits = { base: commitOf(base), head: head === undefined ? undefined : commitOf(head) }
  const options = {
    rounds,
    scenarios: flags.scenarios ?? 'uniform',
    lookup: only !== 'http',
    http: only !== 'lookup',
    smoke,
  }
  const folder = temporaryFolder('compare')
  const table = tablePath(flags.table)
  const sides: readonly Side[] = [
    { name: 'base', folder: join(folder, 'base'), table: tablePath(flags['base-table'] ?? table) },
    { name: 'head', folder: join(folder, 'head'), table },
  ]
  for (const side of sides) await prepare(side, commits[side.name])
  const first = compareRounds(await measureRounds(sides, options))
  const again = suspectsOf(first, options)
  if (again !== undefined) logProgress('some rows look slower: they are measured again')
  const comparisons =
    again === undefined
      ? first
      : decideAgain(first, compareRounds(await measureRounds(sides, again)))
  process.stdout.write(`${flags.json ? JSON.stringify(comparisons) : textOf(comparisons)}\n`)
  return comparisons.some(({ verdict }) => verdict === 'slower') ? 1 : 0
}

await runProgram(main)
