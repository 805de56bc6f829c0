// `npm run bench -- transfer`: how many bytes of a table move a day, from a publisher to a server
// that has yesterday's. Real tables of real days in a row: each day's mirror holds what eleven
// feeds listed on it, the others as they are; the real command line builds it over the history
// before. It is published to a folder and put together from it by the process that a server starts,
// from nothing and from the table of the day before, each held to the table's bytes. Beside it,
// where zstd is installed, what one delta of the two files would take (`zstd --patch-from`).
//
//   --feeds FOLDER  with history/ in it: ../shared/feeds by default
//   --first DAY     2026-08-20; 2026-06-24 and --days 60 for all of them, an hour and more
//   --days 3
//   --tables FOLDER tables that are there already, YYYY-MM-DD.iprisk, in place of building

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../../../src/base/package-root.ts'
import { startChild } from '../../../src/base/system/child-task.ts'
import { createSigningKey, readSigningKey } from '../../../src/publish/form/signing-key.ts'
import { openFolderPlace } from '../../../src/publish/places/folder-place.ts'
import { publishTable } from '../../../src/publish/publish-table.ts'
import type { PulledBytes } from '../../../src/publish/pull/join-table-parts.ts'
import type { PullJob, PullResult } from '../../../src/publish/pull/pull-child-main.ts'
import type { Release } from '../../../src/publish/form/manifest.ts'
import { readFlags } from '../../harness/option.ts'
import { logProgress, runProgram, temporaryFolder } from '../../harness/program.ts'
import { buildDays } from './day-tables.ts'

const pullMs = 600_000
const puller = new URL('../../../src/publish/pull/pull-child-main.js', import.meta.url)
const preload = new URL('../../harness/peak.js', import.meta.url).href

interface Day {
  readonly day: string
  readonly fileBytes: number
  /** All parts of the table, as stored. */
  readonly storedBytes: number
  readonly moved: PulledBytes | undefined
  readonly publishSeconds: number
  readonly pullSeconds: number
  /** Of the process that puts it together, the mapped table of the day before among it. */
  readonly pullPeakBytes: number
  readonly deltaBytes: number | undefined
}

async function measure(
  tables: AsyncIterable<string> | Iterable<string>,
  folder: string,
): Promise<readonly Day[]> {
  const keyFile = join(folder, 'key.pem')
  createSigningKey(keyFile)
  const key = readSigningKey(keyFile)
  const at = join(folder, 'place')
  const place = openFolderPlace(at)
  const days: Day[] = []
  let before: string | undefined
  for await (const table of tables) {
    const options = { place, key, stages: [], keepMs: 864e5 * 365, force: true, now: Date.now() }
    const begun = performance.now()
    const { release } = await publishTable(table, options)
    const published = performance.now()
    const near = before === undefined ? [] : [before]
    const { moved, peakBytes } = await pull(release, { at, folder, near })
    days.push({
      day: release.as_of,
      fileBytes: release.bytes,
      storedBytes: release.stored,
      moved: before === undefined ? undefined : moved,
      publishSeconds: (published - begun) / 1000,
      pullSeconds: (performance.now() - published) / 1000,
      pullPeakBytes: peakBytes,
      deltaBytes: before === undefined ? undefined : deltaOf(before, table, folder),
    })
    logProgress(dayLine(days.at(-1)!))
    before = table
  }
  return days
}

async function pull(
  release: Release,
  of: { readonly at: string; readonly folder: string; readonly near: readonly string[] },
): Promise<{ readonly moved: PulledBytes; readonly peakBytes: number }> {
  const { at, folder, near } = of
  const [url, parts, peak] = [pathToFileURL(at).href, join(folder, 'parts'), join(folder, 'peak')]
  const job = { url, release, near, parts, folder, name: 'pulled', adopt: undefined }
  const child = startChild<PullJob, PullResult>({
    program: puller,
    nodeFlags: ['--import', preload],
    environment: { ...process.env, BENCH_PEAK: peak },
  })
  const { signal } = new AbortController()
  const outcome = await child.ask(job, { msMax: pullMs, signal })
  child.release()
  await child.ended
  if (outcome.kind !== 'answered') throw new Error(`${release.id}: the process ${outcome.kind}`)
  const result = outcome.answer
  if (result.kind === 'refused') throw new Error(`${release.id}: ${result.reason}`)
  rmSync(join(folder, 'pulled'))
  return { moved: result, peakBytes: Number(readFileSync(peak, 'utf8')) }
}

/** `undefined` where there is no zstd. */
function deltaOf(before: string, table: string, folder: string): number | undefined {
  const out = join(folder, 'delta.zst')
  const flags = ['--long=31', '-10', '-q', '-f', '-o', out]
  try {
    execFileSync('zstd', [`--patch-from=${before}`, table, ...flags], { stdio: 'ignore' })
    return statSync(out).size
  } catch {
    return undefined
  } finally {
    rmSync(out, { force: true })
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(2)
}

function dayLine({ day, moved, fileBytes, storedBytes, deltaBytes, ...took }: Day): string {
  const head = `${day}: ${megabytes(fileBytes)} MB, ${megabytes(storedBytes)} as parts`
  const times = `published in ${took.publishSeconds.toFixed(1)} s, put together in ${took.pullSeconds.toFixed(1)} s with ${megabytes(took.pullPeakBytes)} MB at peak`
  if (moved === undefined) return `${head}; ${times}`
  const share = (whole: number): string => `${((100 * moved.bytes) / whole).toFixed(1)} %`
  const delta = deltaBytes === undefined ? '' : `, as one delta ${megabytes(deltaBytes)}`
  return `${head}; moved ${megabytes(moved.bytes)} in ${moved.parts} parts, ${share(storedBytes)} of all parts, ${share(fileBytes)} of the file${delta}; ${times}`
}

async function run(): Promise<number> {
  const flags = readFlags({
    numbers: { days: { min: 2, max: 60, otherwise: 3 } },
    texts: ['feeds', 'first', 'tables'],
  })
  const { days, feeds = join(packageRoot, '../shared/feeds'), first = '2026-08-20' } = flags
  const folder = temporaryFolder('transfer')
  const tables =
    flags.tables === undefined
      ? buildDays({ feeds: resolve(feeds), first, days, folder, tell: logProgress })
      : tablesIn(resolve(flags.tables))
  const found = await measure(tables, folder)
  const moved = found.flatMap((day) => (day.moved === undefined ? [] : [day.moved.bytes]))
  const stored = found.slice(1).reduce((sum, { storedBytes }) => sum + storedBytes, 0)
  const all = moved.reduce((sum, bytes) => sum + bytes, 0)
  const share = ((100 * all) / stored).toFixed(1)
  process.stdout.write(
    `a day moves ${megabytes(all / moved.length)} MB, ${share} % of a full transfer, the most ${megabytes(Math.max(...moved))} MB\n`,
  )
  return 0
}

function tablesIn(folder: string): readonly string[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names
    .filter((name) => /^\d{4}-\d\d-\d\d\.iprisk$/.test(name))
    .toSorted()
    .map((name) => join(folder, name))
}

await runProgram(run)
