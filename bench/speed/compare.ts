// `npm run bench -- compare BASE [HEAD]`: whether HEAD (the working tree by default) is faster than
// BASE, any two commits. Each is cloned, compiled and measured with the benchmarks of the working
// tree, so that only the product differs: lookups in this process's stead and the server under load
// beside its own bare ceiling. Fresh processes each time, the order reversed each round; medians of
// the rounds' ratios, and one plain verdict a row.
//
//   --rounds 5
//   --table FILE      read by both sides: one that BASE and HEAD can read
//   --scenarios TEXT  uniform
//   --only lookup     or http
//   --smoke           one short round
//   --json
//
// Exit code 1 where a row is slower.

import { execFileSync } from 'node:child_process'
import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alignColumns } from '../../src/base/align-columns.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { runChild } from '../harness/child.ts'
import type { LookupReport } from './lookup.ts'
import { tablePath, usageError, readFlags } from '../harness/option.ts'
import { runProgram, logProgress, temporaryFolder } from '../harness/program.ts'
import type { HttpReport } from './report/http-report.ts'
import {
  type Comparison,
  type RoundFigures,
  compareRounds,
  verdictLine,
} from './report/comparison.ts'

const compileMs = 300_000
const roundMs = 300_000

interface Side {
  readonly name: 'base' | 'head'
  readonly folder: string
}

interface Options {
  readonly rounds: number
  readonly table: string
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

/** What is measured with: the same for both sides. */
const harness = ['bench', 'tsconfig.json', 'package.json']
const product = ['src', 'build', 'data/feeds', 'data/tables', 'data/iana']

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
  for (const path of [...harness, ...(commit === undefined ? product : [])]) {
    rmSync(join(folder, path), { recursive: true, force: true })
    cpSync(join(packageRoot, path), join(folder, path), { recursive: true })
  }
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'))
  const config = {
    extends: './tsconfig.json',
    include: [
      'src',
      'build',
      'bench/speed/lookup.ts',
      'bench/speed/http.ts',
      'bench/speed/servers/bare.ts',
    ],
  }
  writeFileSync(join(folder, 'tsconfig.compare.json'), JSON.stringify(config))
  logProgress(`${name}: compiling ${commit?.slice(0, 10) ?? 'the working tree'}`)
  const tsc = join(packageRoot, 'node_modules/.bin/tsc')
  try {
    await runChild([tsc, '-p', 'tsconfig.compare.json'], { timeoutMs: compileMs, cwd: folder })
  } catch {
    // It writes JavaScript for types that do not fit, too; what cannot run says so when it is run.
    logProgress(`${name}: the benchmarks of the working tree do not fit its types in all places`)
  }
}

/** One measurement of one side: figures by name, of which less is better. */
async function measure({ folder }: Side, options: Options): Promise<RoundFigures> {
  const { table, scenarios, smoke } = options
  const run = async (name: string, flags: readonly string[]): Promise<unknown> => {
    const program = join(folder, 'dist/bench/speed', `${name}.js`)
    const command = [program, '--own', '--json', '--table', table, ...flags]
    return JSON.parse(
      await runChild([process.execPath, ...command], { timeoutMs: roundMs, cwd: folder }),
    )
  }
  const sample: Record<string, number> = {}
  if (options.lookup) {
    const length = smoke ? ['--smoke'] : ['--rounds', '3', '--milliseconds', '20']
    const report = (await run('lookup', ['--scenarios', scenarios, ...length])) as LookupReport
    for (const row of report.rows) sample[`${row.subject}, ${row.scenario}, ns`] = row.nsMedian
  }
  if (options.http) {
    const length = smoke ? ['--smoke'] : ['--seconds', '6', '--rounds', '2']
    const { variants } = (await run('http', length)) as HttpReport
    const iprisk = variants.find(({ name }) => name === 'iprisk')
    if (iprisk !== undefined) {
      sample['HTTP check, times as slow as bare'] = 1 / iprisk.ratioToBare
      if (iprisk.cpuUsPerRequest !== null) {
        sample['HTTP check, CPU µs a request'] = iprisk.cpuUsPerRequest
      }
    }
  }
  return sample
}

function textOf(comparisons: readonly Comparison[]): string {
  const cells = comparisons.map(({ name, base, head, ratio, lowest, highest, verdict }) => [
    name,
    verdict,
    ...[base, head].map((value) => value.toFixed(2)),
    ...[ratio, lowest, highest].map((value) => value.toFixed(3)),
  ])
  const title = ['what', 'verdict', 'base', 'head', 'head/base', 'lowest', 'highest']
  return [...alignColumns([title, ...cells], 2), '', verdictLine(comparisons)].join('\n')
}

async function main(): Promise<number> {
  const { only, smoke, rounds, positionals, ...flags } = readFlags({
    numbers: { rounds: { max: 100, otherwise: 5, smoke: 1 } },
    texts: ['table', 'scenarios', 'only'],
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
    table: tablePath(flags.table),
    scenarios: flags.scenarios ?? 'uniform',
    lookup: only !== 'http',
    http: only !== 'lookup',
    smoke,
  }
  const folder = temporaryFolder('compare')
  const sides: readonly Side[] = (['base', 'head'] as const).map((name) => ({
    name,
    folder: join(folder, name),
  }))
  for (const side of sides) await prepare(side, commits[side.name])
  const samples = { base: [] as RoundFigures[], head: [] as RoundFigures[] }
  for (let round = 0; round < options.rounds; round++) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      logProgress(`round ${round + 1}: ${side.name}`)
      samples[side.name].push(await measure(side, options))
    }
  }
  const comparisons = compareRounds(samples)
  process.stdout.write(`${flags.json ? JSON.stringify(comparisons) : textOf(comparisons)}\n`)
  return comparisons.some(({ verdict }) => verdict === 'slower') ? 1 : 0
}

await runProgram(main)
