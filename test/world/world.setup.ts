// Before the tests of the `process` project: world tables from the shared feeds, compiled by the
// real command line from a real static server. They are kept under dist/world and compiled anew
// when the compiled program or the catalogue is newer.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { serveFolder } from '../../bench/harness/site.ts'
import { feedsFolder } from '../feeds.ts'
import {
  type WorldDay,
  historyReport,
  historyStore,
  historyTable,
  worldDays,
  worldReport,
  worldSnapshots,
  worldTable,
} from './world-tables.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

export async function setup(): Promise<void> {
  if (!existsSync(`${feedsFolder}/feeds.json`)) return
  const stale = builds.filter((one) => isStale(one))
  if (stale.length === 0) return
  const mirror = await serveFolder(feedsFolder)
  mkdirSync(join(root, 'dist/world'), { recursive: true })
  try {
    // Side by side: they share nothing but the mirror. Those over the history wait for its import.
    await Promise.all(
      [false, true].map((withHistory) =>
        compileAll(
          stale.filter((one) => one.withHistory === withHistory),
          mirror.url,
        ),
      ),
    )
  } finally {
    mirror.close()
  }
}

/**
 * Compiles `builds` one after the other over one folder of snapshots. That of the tables without
 * history is kept, for the build that is held against them.
 */
async function compileAll(builds: readonly WorldBuild[], mirror: string): Promise<void> {
  const withHistory = builds.some((one) => one.withHistory)
  const snapshots = withHistory
    ? mkdtempSync(join(tmpdir(), 'iprisk-snapshots-'))
    : newFolder(worldSnapshots)
  try {
    if (withHistory) await importHistory(snapshots)
    for (const one of builds) await compileWorld(one, { mirror, snapshots })
  } finally {
    if (withHistory) rmSync(snapshots, { recursive: true, force: true })
  }
}

/** Empty, whatever was there. */
function newFolder(path: string): string {
  rmSync(path, { recursive: true, force: true })
  mkdirSync(path)
  return path
}

interface WorldBuild {
  readonly day: WorldDay
  readonly withHistory: boolean
  readonly table: string
  readonly report: string
}

const builds: readonly WorldBuild[] = worldDays.flatMap((day) => [
  { day, withHistory: false, table: worldTable(day), report: worldReport(day) },
  { day, withHistory: true, table: historyTable(day), report: historyReport(day) },
])

async function importHistory(cwd: string): Promise<void> {
  rmSync(historyStore, { recursive: true, force: true })
  const folder = join(feedsFolder, 'history')
  // By force, for recounts take the files as they are: the gate would hold back one day of one feed.
  const args = ['history', 'import', folder, `--history=${historyStore}`, '--force']
  const said = await iprisk(args, cwd)
  process.stderr.write(`history: ${said.stdout.trimEnd().split('\n').at(-1) ?? ''}\n`)
}

async function compileWorld(
  { day, withHistory, table, report }: WorldBuild,
  from: { readonly mirror: string; readonly snapshots: string },
): Promise<void> {
  // A first build each time: the gate would hold a program that judges otherwise against the old one.
  rmSync(table, { force: true })
  const { stderr } = await iprisk(
    [
      'build',
      '--all-feeds',
      `--mirror=${from.mirror}`,
      `--as-of=${day}`,
      `--snapshots=${from.snapshots}`,
      `--history=${withHistory ? historyStore : join(from.snapshots, 'data/history')}`,
      `--out=${table}`,
      `--report=${report}`,
    ],
    from.snapshots,
  )
  const what = withHistory ? 'world table with its history' : 'world table'
  process.stderr.write(`${what} as of ${day}: ${stderr.trimEnd().split('\n').at(-3) ?? ''}\n`)
}

function iprisk(
  args: readonly string[],
  cwd: string,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const program = join(root, 'dist/src/cli/main.js')
  return run(process.execPath, [program, ...args], { cwd, maxBuffer: 1 << 26 })
}

function isStale({ table, report }: WorldBuild): boolean {
  if (!existsSync(table) || !existsSync(report)) return true
  const made = statSync(table).mtimeMs
  const inputs = ['dist/build', 'dist/src', 'data/feeds', 'data/tables']
  return inputs.some((folder) => newestIn(join(root, folder)) > made)
}

function newestIn(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return Math.max(...names.map((name) => statSync(join(folder, name)).mtimeMs))
}
