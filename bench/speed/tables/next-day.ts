// The build of the day after: whole, and incremental, which is the same command where the build of
// the day before has left what it keeps (`cache` beside the snapshots). Both begin with the same
// history, that of the day before, and both must give the same table, byte for byte.
//
// The days are real ones of the shared feeds: a day's mirror has what the feeds with a history
// listed on it (day-tables.ts); the others are there in one snapshot alone and do not change.

import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { dayOf, formatDay, msPerDay } from '../../../src/base/day.ts'
import { flagsOf, cliProgram } from '../../harness/child.ts'
import { logProgress } from '../../harness/program.ts'
import { serveFolder } from '../../harness/site.ts'
import { median } from '../../harness/statistics.ts'
import { type ProgramTime, timedProgram } from '../../harness/timed-program.ts'
import { importBefore, writeMirror } from './day-tables.ts'

export interface NextDay {
  readonly day: string
  /** Medians of the rounds. */
  readonly whole: ProgramTime
  readonly incremental: ProgramTime
  /** Seconds of the incremental build for each of the whole one: the median of the rounds. */
  readonly ratio: number
  readonly tablesEqual: boolean
}

interface Build extends ProgramTime {
  readonly hash: string
}

/** `asOf` is the day after. `folder` is for the builds, and is left as it was. */
export async function measureNextDay(of: {
  readonly feeds: string
  readonly asOf: string
  readonly rounds: number
  readonly folder: string
}): Promise<NextDay> {
  const { feeds, asOf, rounds } = of
  const folder = join(of.folder, 'next-day')
  const eve = join(folder, 'eve')
  mkdirSync(eve, { recursive: true })
  const dayBefore = formatDay(dayOf(Date.parse(asOf) - msPerDay))
  logProgress(`importing the history before ${dayBefore}`)
  await importBefore(dayBefore, { feeds, folder: eve, store: join(eve, 'history') })
  await buildIn(eve, dayBefore, feeds)
  const wholes: Build[] = []
  const incrementals: Build[] = []
  const next = join(folder, 'next')
  for (let round = 0; round < rounds; round++) {
    for (const builds of [wholes, incrementals]) {
      rmSync(next, { recursive: true, force: true })
      const kept = builds === wholes ? ['history'] : ['history', 'cache']
      for (const name of kept) cpSync(join(eve, name), join(next, name), { recursive: true })
      builds.push(await buildIn(next, asOf, feeds))
    }
    const said = [wholes, incrementals].map((builds) => builds.at(-1)?.seconds.toFixed(1))
    logProgress(`round ${round + 1}: whole ${said[0]} s, incremental ${said[1]} s`)
  }
  rmSync(folder, { recursive: true, force: true })
  const hashes = new Set([...wholes, ...incrementals].map(({ hash }) => hash))
  return {
    day: asOf,
    whole: medians(wholes),
    incremental: medians(incrementals),
    ratio: median(wholes.map(({ seconds }, at) => (incrementals[at]?.seconds ?? NaN) / seconds)),
    tablesEqual: hashes.size === 1,
  }
}

/** A first build in `folder`, but for the history and the cache that lie there. */
async function buildIn(folder: string, day: string, feeds: string): Promise<Build> {
  const mirrored = join(folder, 'mirror')
  writeMirror(day, feeds, mirrored)
  const mirror = await serveFolder(mirrored)
  try {
    const places = { snapshots: 'snapshots', history: 'history', out: 'world.iprisk' }
    const flags = flagsOf({ mirror: mirror.url, 'as-of': day, report: 'report.json', ...places })
    const time = await timedProgram([cliProgram, 'build', '--all-feeds', ...flags], folder)
    const table = readFileSync(join(folder, 'world.iprisk'))
    return { ...time, hash: createHash('sha256').update(table).digest('hex') }
  } finally {
    mirror.close()
  }
}

function medians(builds: readonly ProgramTime[]): ProgramTime {
  const of = (figure: (build: ProgramTime) => number): number => median(builds.map(figure))
  return {
    seconds: of(({ seconds }) => seconds),
    cpuSeconds: of(({ cpuSeconds }) => cpuSeconds),
    peakBytes: of(({ peakBytes }) => peakBytes),
  }
}
