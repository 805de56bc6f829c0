// An operator's folder before, between and after runs of the compiler: what it holds, as names and
// contents that can be compared, and whether all that is live in it is whole.
//
// Invariant of `faultsOf`: every day's file of the history reads whole and is what it says, every
// table under a live name verifies, every JSON file parses, and no other name is taken for live.

import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { dayContent } from '../../../build/history/day-content.ts'
import { dayPath, storedDays, storedFeeds } from '../../../build/history/history-days.ts'
import { openDuckDb } from '../../../build/history/duckdb.ts'
import { readDayRows, readDayMetadata } from '../../../build/history/day-file.ts'
import { formatDay } from '../../../src/base/day.ts'
import { messageOf } from '../../../src/base/coded-error.ts'
import { verifyTable } from '../../../src/table/file/verify/verify-table.ts'

/** Where a workspace's files are, from its folder. */
export const workspaceHistory = 'data/history'
export const workspaceTable = 'world.iprisk'

/** Hash by path; of the days of the history, of what they list. */
export type WorkspaceContents = ReadonlyMap<string, string>

export interface WorkspaceState {
  readonly contents: WorkspaceContents
  readonly faults: readonly string[]
}

/** Reads everything in a workspace. */
export async function inspectWorkspace(workspace: string): Promise<WorkspaceState> {
  const faults: string[] = []
  const contents = new Map<string, string>()
  for (const path of filesIn(workspace)) {
    if (path.startsWith(workspaceHistory) && path.endsWith('.parquet') && !isHidden(path)) continue
    contents.set(plainName(path), contentHash(join(workspace, path), faults))
  }
  const store = join(workspace, workspaceHistory)
  const days = await daysOf(store, faults)
  for (const [day, hash] of days) contents.set(`${workspaceHistory}/${day}`, hash)
  return { contents, faults }
}

/** Every day's file by `feed/day`, read whole and held against what it says of itself. */
async function daysOf(store: string, faults: string[]): Promise<WorkspaceContents> {
  const contents = new Map<string, string>()
  const duck = await openDuckDb({ spill: store })
  try {
    for (const feed of await storedFeeds(store)) {
      const days = await storedDays(store, feed)
      const paths = days.map((day) => dayPath(store, feed, day))
      const statements = await readDayMetadata(duck, paths)
      for (const day of days) {
        const path = dayPath(store, feed, day)
        const name = `${feed}/${formatDay(day)}`
        try {
          const { hash, rows } = dayContent(await readDayRows(duck, path))
          const said = statements.get(path)
          const isWhole = said?.hash === hash && said.rowCount === rows.length
          if (!isWhole || said.day !== day || said.feed !== feed) {
            faults.push(`${name} is not what it says of itself`)
          }
          contents.set(name, hash)
        } catch (thrown) {
          faults.push(`${name} cannot be read: ${messageOf(thrown)}`)
        }
      }
    }
  } finally {
    await duck.close()
  }
  return contents
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort()
}

/** Whether folder or name mark a file as temporary, so that no program takes it for live. */
function isHidden(path: string): boolean {
  return path.split('/').some((part) => part.startsWith('.'))
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g

/** Without what is random in a name. */
function plainName(path: string): string {
  return path.replace(uuid, '*').replace(/\.\d+\.(\*\.)?tmp$/, '.*.tmp')
}

/** A table and JSON under a live name must be whole. Times in the report may differ. */
function contentHash(path: string, faults: string[]): string {
  const bytes = readFileSync(path)
  const name = basename(path)
  if (name.endsWith('.iprisk') || name.endsWith('.candidate')) {
    try {
      verifyTable(path)
    } catch (thrown) {
      faults.push(`${name}: ${messageOf(thrown)}`)
    }
  }
  if (!name.endsWith('.json')) return hashOf(bytes)
  const text = bytes.toString()
  try {
    JSON.parse(text)
  } catch (thrown) {
    faults.push(`${name}: ${messageOf(thrown)}`)
  }
  return name === 'report.json' ? '' : hashOf(text.replace(uuid, '*').replace(time, '*'))
}

function hashOf(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex')
}
