// Before the tests of the `process` project: world tables from the shared feeds, compiled by the
// real command line from a real static server. They are kept under dist/world and compiled anew
// when the compiled program or the catalogue is newer.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { serveFolder } from '../bench/site.ts'
import { feedsFolder } from './feeds.ts'
import { type WorldDay, worldDays, worldReport, worldTable } from './world.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const run = promisify(execFile)

export async function setup(): Promise<void> {
  if (!existsSync(`${feedsFolder}/feeds.json`)) return
  const stale = worldDays.filter((day) => isStale(day))
  if (stale.length === 0) return
  const mirror = await serveFolder(feedsFolder)
  const snapshots = mkdtempSync(join(tmpdir(), 'iprisk-snapshots-'))
  mkdirSync(join(root, 'dist/world'), { recursive: true })
  try {
    for (const day of stale) await compileWorld({ day, mirror: mirror.url, snapshots })
  } finally {
    mirror.close()
    rmSync(snapshots, { recursive: true, force: true })
  }
}

async function compileWorld(options: {
  readonly day: WorldDay
  readonly mirror: string
  readonly snapshots: string
}): Promise<void> {
  const { day, mirror, snapshots } = options
  // A first build each time: the gate would hold a program that judges otherwise against the old one.
  rmSync(worldTable(day), { force: true })
  const { stderr } = await run(
    process.execPath,
    [
      join(root, 'dist/src/cli/main.js'),
      'build',
      '--all-feeds',
      `--mirror=${mirror}`,
      `--as-of=${day}`,
      `--snapshots=${snapshots}`,
      `--out=${worldTable(day)}`,
      `--report=${worldReport(day)}`,
    ],
    { cwd: snapshots, maxBuffer: 1 << 26 },
  )
  process.stderr.write(`world table as of ${day}: ${stderr.trimEnd().split('\n').at(-3) ?? ''}\n`)
}

function isStale(day: WorldDay): boolean {
  if (!existsSync(worldTable(day)) || !existsSync(worldReport(day))) return true
  const made = statSync(worldTable(day)).mtimeMs
  const inputs = ['dist/build', 'dist/src', 'data/feeds', 'data/tables']
  return inputs.some((folder) => newestIn(join(root, folder)) > made)
}

function newestIn(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return Math.max(...names.map((name) => statSync(join(folder, name)).mtimeMs))
}
