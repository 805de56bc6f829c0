// Feedback as Parquet: a file for each day of received outcomes, `YYYY-MM-DD.parquet`, made from
// the lines in the state folder (src/feedback), which stay authoritative.
//
//   ip  outcome  at  received  key_id  note      times as timestamps, UTC; note may be empty
//
// A day with changed lines is rewritten; a day that was pruned is removed. Other files stay.

import { existsSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { IpriskError, inputError } from '../src/base/coded-error.ts'
import { checkOutput, replaceWith } from '../src/base/system/atomic-file.ts'
import {
  type KeptOutcome,
  feedbackFolder,
  outcomeDays,
  readDayOutcomes,
} from '../src/feedback/feedback-files.ts'
import { hashOfFile } from './fetch/snapshot-store.ts'
import { type DuckDb, type ParquetColumn, sqlQuote, withDuckDb } from './history/duckdb.ts'

interface ExportedDay {
  readonly day: string
  readonly state: 'written' | 'unchanged' | 'removed'
  readonly outcomes: number
}

const columns: readonly ParquetColumn<KeptOutcome>[] = [
  { name: 'ip', type: 'text', of: ({ address }) => address },
  { name: 'outcome', type: 'text', of: ({ outcome }) => outcome },
  { name: 'at', type: 'timestamp', of: ({ atMs }) => atMs },
  { name: 'received', type: 'timestamp', of: ({ receivedMs }) => receivedMs },
  { name: 'key_id', type: 'text', of: ({ keyId }) => keyId },
  { name: 'note', type: 'text', of: ({ note }) => note },
]

const dayForm = /^(\d{4}-\d\d-\d\d)\.parquet$/
const unfinishedForm = /^\.\d{4}-\d\d-\d\d\.parquet\..+\.tmp$/

/** Throws the errors of disk and DuckDB. */
export async function exportOutcomes(state: string, folder: string) {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const days = await outcomeDays(state)
  const known = new Set(days.map(({ day }) => day))
  const exported: ExportedDay[] = []
  const names = await readdir(folder)
  if (!existsSync(feedbackFolder(state)) && names.some((name) => dayForm.test(name))) {
    throw neverKept(state, folder)
  }
  for (const name of names) {
    if (unfinishedForm.test(name)) await rm(join(folder, name), { force: true })
    const day = dayForm.exec(name)?.[1]
    if (day === undefined || known.has(day)) continue
    await rm(join(folder, name))
    exported.push({ day, state: 'removed', outcomes: 0 })
  }
  await withDuckDb({ spill: folder }, async (duck) => {
    for (const one of days) exported.push(await exportDay(duck, folder, one))
  })
  return exported.sort((a, b) => (a.day < b.day ? -1 : 1))
}

/** Most likely the wrong state folder: syncing would remove every exported day. */
function neverKept(state: string, folder: string): IpriskError {
  const message =
    `${state} holds no feedback, so this export would delete the days already in ${folder}. ` +
    'Name the right state folder with --state.'
  return inputError('feedback_none', message)
}

async function exportDay(
  duck: DuckDb,
  folder: string,
  { day, path }: { readonly day: string; readonly path: string },
): Promise<ExportedDay> {
  const target = join(folder, `${day}.parquet`)
  checkOutput(`The name of the day ${day}`, target, 'feedback_export')
  // Before the lines are read: lines added meanwhile make the next run write them again.
  const hash = await hashOfFile(path)
  const known = await knownOf(duck, target)
  if (known?.hash === hash) return { day, state: 'unchanged', outcomes: known.outcomes }
  const rows: KeptOutcome[] = []
  await readDayOutcomes(path, (one) => rows.push(one))
  const about = { iprisk_day: day, iprisk_hash: hash, iprisk_rows: String(rows.length) }
  // Whole addresses, so readable by the owner only.
  await replaceWith(target, 0o600, (path) => duck.writeParquet({ path, columns, rows, about }))
  return { day, state: 'written', outcomes: rows.length }
}

/** A file's metadata; `undefined` if it cannot be read. */
async function knownOf(duck: DuckDb, path: string) {
  const sql =
    'select decode(key), decode(value) from parquet_kv_metadata(' +
    `${sqlQuote(path)}) order by key`
  try {
    const about = new Map((await duck.all(sql)).map(([key, value]) => [key, String(value)]))
    const hash = about.get('iprisk_hash')
    return hash === undefined ? undefined : { hash, outcomes: Number(about.get('iprisk_rows')) }
  } catch (error) {
    if (error instanceof IpriskError) return undefined
    throw error
  }
}
