// `npm run bench`: every part of the benchmarks, one after the other, each in a process of its own,
// and the report of it. By default short, for a laptop: about four minutes, whose figures say where
// things stand and prove nothing. `--save` is the definitive run (about twenty minutes on two
// cores): it keeps its raw data in bench/runs/<day>-<cpu>/ and makes bench/REPORT.md
// of them. Nothing else should run on the machine meanwhile.
//
//   --save
//   --short          with --save: keeps a short run, and the report says that it is one
//   --table FILE     the table of the tests, or data/table/world.iprisk, by default
//   --feeds FOLDER   for the world build; ../shared/feeds by default
//   --only a,b       parts, see partNames
//   --smoke          seconds: whether it works
//
// A part that needs what is not there is skipped with the reason; one that fails ends the run.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageRoot } from '../../src/base/package-root.ts'
import { runChild } from '../harness/child.ts'
import { usageError } from '../../src/base/coded-error.ts'
import { tablePath, readFlags } from '../harness/option.ts'
import { runProgram, logProgress } from '../harness/program.ts'
import { benchReportText, publishedFiles } from './report/markdown.ts'
import { plotsOf } from './report/plot.ts'
import { type AllReport, type PartName, partNames, readRun } from './report/kept-run.ts'
import { runHead, runName } from '../harness/run.ts'

type Length = 'smoke' | 'short' | 'full'

/** What each part is told, by the length of the run. */
const flags = {
  lookup: {
    smoke: ['--smoke', '--scenarios', 'ipv4-uniform'],
    short: ['--rounds', '3', '--milliseconds', '10'],
    full: [],
  },
  http: {
    smoke: ['--smoke'],
    short: ['--seconds', '9', '--rounds', '3'],
    full: ['--seconds', '48'],
  },
  allocation: { smoke: ['--smoke'], short: ['--seconds', '5'], full: [] },
  profile: { smoke: ['--smoke'], short: ['--seconds', '5'], full: [] },
  pool: {
    smoke: ['--smoke', '--compare-priorities'],
    short: ['--seconds', '2', '--compare-priorities'],
    full: ['--compare-priorities'],
  },
  bulk: { smoke: ['--smoke'], short: ['--rounds', '1'], full: [] },
  memory: { smoke: ['--smoke'], short: ['--seconds', '1'], full: [] },
  start: { smoke: ['--smoke'], short: ['--rounds', '5'], full: [] },
  growth: { smoke: ['--smoke'], short: ['--rounds', '2', '--milliseconds', '50'], full: [] },
  world: { smoke: [], short: [], full: [] },
} as const satisfies Readonly<Record<PartName, Readonly<Record<Length, readonly string[]>>>>

/** The whole run stays far below; a part that hangs ends it. */
const partMs = 1_500_000

function readOptions() {
  const flags = readFlags({
    texts: ['table', 'feeds', 'only'],
    switches: ['smoke', 'short', 'save'],
  })
  const only = flags.only?.split(',') ?? partNames
  const parts = partNames.filter((name) => only.includes(name))
  if (parts.length !== only.length) {
    throw usageError(`--only must be some of ${partNames.join(', ')}, with commas between.`)
  }
  const length: Length = flags.smoke ? 'smoke' : flags.save && !flags.short ? 'full' : 'short'
  return {
    length,
    save: flags.save,
    table: tablePath(flags.table),
    feeds: resolve(flags.feeds ?? join(packageRoot, '../shared/feeds')),
    parts,
  }
}

type Options = ReturnType<typeof readOptions>

/** Why a part cannot run here. */
function obstacle(part: PartName, { feeds, length }: Options): string | undefined {
  if (part === 'world' && length === 'smoke') return 'a build has no short form'
  if (part === 'world' && !existsSync(feeds)) return `there are no feeds at ${feeds}`
  if (part === 'memory' && process.platform !== 'linux') return 'only Linux tells it'
  return undefined
}

async function runParts(options: Options, folder: string): Promise<AllReport> {
  const { length, table, feeds, parts } = options
  const head = runHead(process.argv.slice(2))
  const skipped: { part: PartName; reason: string }[] = []
  const seconds: Partial<Record<PartName, number>> = {}
  // A part that is not measured again must not stay from an earlier run.
  for (const name of [...partNames, 'all']) rmSync(join(folder, `${name}.json`), { force: true })
  for (const part of partNames) {
    const reason = parts.includes(part) ? obstacle(part, options) : 'not asked for'
    if (reason !== undefined) {
      skipped.push({ part, reason })
      continue
    }
    logProgress(`${part} …`)
    const begun = performance.now()
    const place = part === 'world' ? ['--feeds', feeds] : ['--table', table]
    const program = fileURLToPath(new URL(`${part}.js`, import.meta.url))
    const output = await runChild(
      [process.execPath, program, '--json', ...place, ...flags[part][length]],
      { timeoutMs: partMs },
    )
    writeFileSync(join(folder, `${part}.json`), output)
    seconds[part] = Math.round((performance.now() - begun) / 1000)
    logProgress(`${part}: ${seconds[part]} s`)
  }
  const all = { ...head, kind: 'all', short: length !== 'full', seconds, skipped } as const
  writeFileSync(join(folder, 'all.json'), `${JSON.stringify(all, undefined, 1)}\n`)
  return all
}

async function main(): Promise<number> {
  const options = readOptions()
  if (options.save) {
    // A short run never stands where a definitive one of the same day was kept.
    const suffix = options.length === 'full' ? '' : `-${options.length}`
    const folder = join(packageRoot, 'bench/runs', `${runName(runHead([]))}${suffix}`)
    mkdirSync(folder, { recursive: true })
    await runParts(options, folder)
    for (const [path, text] of publishedFiles(folder)) {
      writeFileSync(join(packageRoot, path), text)
      logProgress(`made ${path}`)
    }
    return 0
  }
  const folder = mkdtempSync(join(tmpdir(), 'iprisk-bench-run-'))
  await runParts(options, folder)
  const run = readRun(folder)
  const drawn = plotsOf(run)
  for (const [name, text] of drawn) writeFileSync(join(folder, `${name}.svg`), text)
  const text = benchReportText(run, { plots: [...drawn.keys()], folder: '.' })
  writeFileSync(join(folder, 'REPORT.md'), text)
  process.stdout.write(text)
  logProgress(`The report and its raw data are in ${folder}.`)
  return 0
}

await runProgram(main)
