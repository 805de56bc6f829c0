// `npm run bench -- world`: how long a build of the world takes and how much memory: city places,
// ASN, all feeds, and their history of 60 days imported before. The real command line, in a process
// of its own, from a mirror on loopback; downloading, gates, verification and flush are in the
// time. Then the next day's build, whole and with what the day before has kept (day-tables.ts).
//
//   --feeds FOLDER  a mirror's folder with history/ in it: ../shared/feeds by default
//   --as-of DAY     2026-08-22
//   --rounds 1
//   --config FILE   settings of the build in place of all feeds and the default data; no history
//   --json  --save

import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packageRoot } from '../../src/base/package-root.ts'
import { flagsOf, runChild, cliProgram } from '../harness/child.ts'
import { usageError } from '../../src/base/coded-error.ts'
import { readFlags } from '../harness/option.ts'
import { runProgram, logProgress, showReport, temporaryFolder } from '../harness/program.ts'
import { type RunHead, runHead } from '../harness/run.ts'
import { serveFolder } from '../harness/site.ts'
import { median } from '../harness/statistics.ts'
import { partText } from './report/markdown.ts'
import { type ProgramTime, timedProgram } from '../harness/timed-program.ts'
import { type NextDay, measureNextDay } from './tables/day-tables.ts'

export interface WorldReport extends RunHead {
  readonly kind: 'world'
  readonly ownConfig: boolean
  readonly importSeconds: number | null
  /** Days of history that were imported, of the feed that has most. */
  readonly historyDays: number
  readonly rounds: readonly Pick<ProgramTime, 'seconds' | 'peakBytes'>[]
  readonly seconds: number
  readonly peakBytes: number
  readonly tableBytes: number
  /** Absent in runs before it was measured, and where there is no history. */
  readonly nextDay?: NextDay
}

const buildMs = 1_800_000
async function measure(options: {
  readonly feeds: string
  readonly asOf: string
  readonly rounds: number
  readonly config: string | undefined
}): Promise<WorldReport> {
  const { feeds, asOf, rounds, config } = options
  const folder = temporaryFolder('world')
  const mirror = await serveFolder(feeds)
  try {
    const past = join(feeds, 'history')
    const store = join(folder, 'history')
    let importSeconds: number | null = null
    if (config === undefined && existsSync(past)) {
      logProgress('importing the history')
      const begun = performance.now()
      await runChild(
        [process.execPath, cliProgram, 'history', 'import', past, '--history', store],
        {
          timeoutMs: buildMs,
          cwd: folder,
        },
      )
      importSeconds = (performance.now() - begun) / 1000
    }
    const results: ProgramTime[] = []
    const out = join(folder, 'world.iprisk')
    for (let round = 0; round < rounds; round++) {
      // A first build each time: nothing fetched before, no table to compare with.
      for (const left of [out, join(folder, 'snapshots')]) {
        rmSync(left, { recursive: true, force: true })
      }
      const places = { mirror: mirror.url, snapshots: 'snapshots', history: store, out }
      const which = config === undefined ? ['--all-feeds'] : ['--config', config]
      const flags = flagsOf({ ...places, 'as-of': asOf, report: join(folder, 'report.json') })
      const command = [cliProgram, 'build', ...which, ...flags]
      const { output: _, ...time } = await timedProgram(command, folder)
      results.push(time)
      logProgress(`round ${round + 1}: ${results.at(-1)?.seconds.toFixed(1)} s`)
    }
    const hasPast = config === undefined && existsSync(past)
    const nextDay = hasPast ? await measureNextDay({ feeds, asOf, rounds, folder }) : undefined
    return {
      ...runHead(process.argv.slice(2)),
      kind: 'world',
      ownConfig: config !== undefined,
      importSeconds,
      historyDays: importSeconds === null ? 0 : daysOf(feeds),
      rounds: results,
      seconds: median(results.map(({ seconds }) => seconds)),
      peakBytes: median(results.map(({ peakBytes }) => peakBytes)),
      tableBytes: statSync(out).size,
      ...(nextDay === undefined ? {} : { nextDay }),
    }
  } finally {
    mirror.close()
  }
}

function daysOf(feeds: string): number {
  const file = join(feeds, 'history.json')
  if (!existsSync(file)) return 0
  const said = JSON.parse(readFileSync(file, 'utf8')) as Readonly<
    Record<string, { readonly days?: number }>
  >
  return Math.max(...Object.values(said).map(({ days = 0 }) => days))
}

async function run(): Promise<number> {
  const { rounds, json, save, ...flags } = readFlags({
    numbers: { rounds: { max: 100, otherwise: 1 } },
    texts: ['feeds', 'as-of', 'config'],
    switches: ['json', 'save'],
  })
  const feeds = resolve(flags.feeds ?? join(packageRoot, '../shared/feeds'))
  if (!existsSync(feeds)) throw usageError(`There is no mirror at ${feeds}: name one with --feeds.`)
  const asOf = flags['as-of'] ?? '2026-08-22'
  const config = flags.config === undefined ? undefined : resolve(flags.config)
  const report = await measure({ feeds, asOf, rounds, config })
  showReport('world', report, { json, save, text: partText('world', report) })
  return 0
}

await runProgram(run)
