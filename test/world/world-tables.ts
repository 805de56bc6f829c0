// World tables for tests: compiled from the shared feeds, all feeds on, by the real command line
// from a real static server; for each day one from the snapshots alone, and one that knows the
// sixty real days before, too. The first test that asks for a table builds it, and those that run
// beside it wait for it. Tables stay in dist/world until the compiled program or the catalogue is
// newer. Tests ask under `describeFeeds`, for without the shared feeds there is nothing to compile.

import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { serveFolder } from '../../bench/harness/site.ts'
import { acquireFileLock } from '../../src/base/system/file-lock.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { programPath } from '../cli/program.ts'
import { eventually } from '../eventually.ts'
import { feedsFolder } from '../feeds.ts'

/** Days that count as today; the second is that of the one large list of residential proxies. */
export const worldDays = ['2026-08-22', '2025-11-22'] as const
export type WorldDay = (typeof worldDays)[number]

const folder = join(packageRoot, 'dist/world')
const buildMs = 900_000
const run = promisify(execFile)

export interface WorldBuild {
  readonly table: string
  /** The JSON report of the build. */
  readonly report: string
  /** The snapshots that the table was compiled from. */
  readonly snapshots: string
}

/** The build as of `day` from the snapshots alone. */
export async function worldBuild(day: WorldDay = '2026-08-22'): Promise<WorldBuild> {
  const built = {
    table: join(folder, `${day}.iprisk`),
    report: join(folder, `${day}.json`),
    snapshots: join(folder, 'snapshots', day),
  }
  await onceBuilt(day, () => {
    rmSync(built.snapshots, { recursive: true, force: true })
    return compileWorld(day, built, join(built.snapshots, 'data/history'))
  })
  return built
}

/** Path of the table as of `day`, from the snapshots alone. */
export async function worldTable(day: WorldDay = '2026-08-22'): Promise<string> {
  return (await worldBuild(day)).table
}

/**
 * The shared days, of the three lists with over 20,000 entries every fourth: they are two thirds of
 * all entries, and change little from one day to the next.
 */
export const worldDaysFolder = join(folder, 'days')
const longLists = new Set(['block-threatfox', 'resproxy-avastel-1day', 'vpn-az0'])
const longStride = 4

/** A store of those days, imported with --force. For reading: a build records its day. */
export async function worldHistory(): Promise<string> {
  const imported = join(folder, 'history')
  await onceBuilt('history', () => {
    copyDays()
    return importHistory(imported)
  })
  return imported
}

/** Path of the table as of `day` that is built over the imported history. */
export async function historyTable(day: WorldDay): Promise<string> {
  const imported = await worldHistory()
  const name = `${day}.history`
  const table = join(folder, `${name}.iprisk`)
  await onceBuilt(name, async () => {
    const own = mkdtempSync(join(tmpdir(), 'iprisk-world-'))
    try {
      // A build records its day, and the other day shall find the history as it was imported.
      cpSync(imported, join(own, 'history'), { recursive: true })
      // Beside those of the other tables, for a build finds there what was read of places before.
      const snapshots = join(folder, 'snapshots', name)
      const built = { table, report: join(folder, `${name}.json`), snapshots }
      return await compileWorld(day, built, join(own, 'history'))
    } finally {
      rmSync(join(folder, 'snapshots', name), { recursive: true, force: true })
      rmSync(own, { recursive: true, force: true })
    }
  })
  return table
}

/**
 * Puts what world builds have read of networks and places where a build with the snapshots
 * `data/snapshots` looks for it. The files are named by all that they were read from.
 */
export function copyReadings(data: string): void {
  const cache = join(folder, 'snapshots/cache')
  if (!existsSync(cache)) return
  // One that is being written has another name.
  const filter = (path: string): boolean => path === cache || path.endsWith('.bin')
  cpSync(cache, join(data, 'cache'), { recursive: true, filter })
}

/** Makes what has `name` unless it is there and newer than the program; one process at a time. */
async function onceBuilt(name: string, make: () => Promise<string>): Promise<void> {
  const lock = await eventually(() => acquireFileLock(join(folder, 'locks', name)), buildMs)
  try {
    const stamp = join(folder, `${name}.built`)
    if (existsSync(stamp) && statSync(stamp).mtimeMs > programMs()) return
    rmSync(stamp, { force: true })
    const said = await make()
    process.stderr.write(`world ${name}: ${said}\n`)
    writeFileSync(stamp, said)
  } finally {
    lock.release()
  }
}

function copyDays(): void {
  rmSync(worldDaysFolder, { recursive: true, force: true })
  const shared = join(feedsFolder, 'history')
  for (const id of readdirSync(shared)) {
    // Of each list the last day is among them.
    const newestFirst = readdirSync(join(shared, id)).sort().reverse()
    const stride = longLists.has(id) ? longStride : 1
    for (const [at, name] of newestFirst.entries()) {
      if (at % stride === 0) cpSync(join(shared, id, name), join(worldDaysFolder, id, name))
    }
  }
}

/** Gives what the import said last. */
async function importHistory(store: string): Promise<string> {
  rmSync(store, { recursive: true, force: true })
  // By force, for recounts take the files as they are: acceptance would hold back one day of one
  // feed.
  const args = ['history', 'import', worldDaysFolder, `--history=${store}`, '--force']
  return (await iprisk(args, folder)).stdout.trimEnd().split('\n').at(-1) ?? ''
}

/** Gives the line of the build's summary that names its table's size. */
async function compileWorld(
  day: WorldDay,
  { table, report, snapshots }: WorldBuild,
  history: string,
): Promise<string> {
  // A first build each time: acceptance would hold a program that judges otherwise against the old
  // one.
  rmSync(table, { force: true })
  mkdirSync(snapshots, { recursive: true })
  const mirror = await serveFolder(feedsFolder)
  try {
    const places = [`--snapshots=${snapshots}`, `--history=${history}`]
    const results = [`--out=${table}`, `--report=${report}`]
    const args = ['build', '--all-feeds', `--mirror=${mirror.url}`, `--as-of=${day}`]
    const { stderr } = await iprisk([...args, ...places, ...results], snapshots)
    return stderr.trimEnd().split('\n').at(-3) ?? ''
  } finally {
    mirror.close()
  }
}

function iprisk(
  args: readonly string[],
  cwd: string,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return run(process.execPath, [programPath, ...args], { cwd, maxBuffer: 1 << 26 })
}

/** When the compiled program and its data were last changed. */
function programMs(): number {
  const inputs = ['dist/build', 'dist/src', 'data/feeds', 'data/tables']
  return Math.max(...inputs.map((folder) => newestIn(join(packageRoot, folder))))
}

/** Of files that a build reads: other tests write declarations beside them, and folders follow. */
function newestIn(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(?:js|json|csv)$/.test(name),
  )
  return Math.max(...names.map((name) => statSync(join(folder, name)).mtimeMs))
}
