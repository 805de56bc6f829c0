// Opens a table file: maps it, checks what lookups need (with `whole`, checksums too), and answers.
//
// The file itself is mapped: truncating or overwriting it in place ends this process (SIGBUS). Use
// this only for files that only this program writes, or briefly; else open-copied-table.ts.

import { type MappedFile, mapFile } from '../base/system/memory-map.ts'
import { IpriskError } from '../base/coded-error.ts'
import { openAnswerWriter } from './answer/answer-writer.ts'
import { checkAddress } from './answer/check-address.ts'
import { locateBatch, prefetchRuns } from './lookup/lookup-batch.ts'
import { type AnswerReader, openAnswerReader } from './answer/answer-reader.ts'
import type { Table } from './table.ts'
import { type TableView, readTableView, compareChecksums } from './file/table-view.ts'
import { coverageOf } from './answer/table-coverage.ts'

export interface OpenTable extends Table {
  /** For callers that look up without building answers. */
  readonly reader: AnswerReader
  /** Reads the whole file into memory now, so that no answer waits for a disk. */
  populate(): void
}

const clockMs = 60_000

export interface OpenTableOptions {
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number
  /** The file to map; default `path`, which errors name. */
  readonly mapped?: string
  readonly whole?: boolean
}

/** A table in memory that the caller maps and unmaps. */
export function openMappedTable(bytes: Uint8Array, path: string) {
  const map = { bytes, populate: () => undefined, unmap: () => undefined }
  return tableOver(map, readTableView(bytes, path), path, Date.now)
}

/** Throws `file_unreadable`, `table_corrupt` (with section and offset) or `table_version`. */
export function openTable(path: string, options: OpenTableOptions = {}): OpenTable {
  const steps = openTableInSteps(path, options)
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

/** In steps, for a serving loop; run it to its end. */
export function* openTableInSteps(
  path: string,
  { now = Date.now, mapped = path, whole = false }: OpenTableOptions = {},
): Generator<undefined, OpenTable, undefined> {
  const map = mapFile(mapped)
  try {
    yield
    const file = readTableView(map.bytes, path)
    yield
    for (const _ of whole ? compareChecksums(map.bytes, file, path) : []) yield
    const table = tableOver(map, file, path, now)
    const clock = setInterval(() => table.readClock(), clockMs).unref()
    return {
      ...table,
      close() {
        clearInterval(clock)
        table.close()
      },
    }
  } catch (error) {
    map.unmap()
    throw error
  }
}

function tableOver(map: MappedFile, file: TableView, path: string, now: () => number) {
  const reader = openAnswerReader({ ...file, coverage: coverageOf(file, now()) })
  let answers = openAnswerWriter(reader)
  let open = true
  return {
    path,
    id: file.id,
    asOf: file.asOf,
    bytes: map.bytes.length,
    sources: file.sources,
    coverage: file.coverage,
    reader,
    /** A writer's answers have the coverage of its creation. */
    readClock() {
      const coverage = coverageOf(file, now())
      if (coverage?.age_days === reader.coverage?.age_days) return
      reader.coverage = coverage
      answers = openAnswerWriter(reader)
    },
    populate: () => map.populate(),
    check(text) {
      if (!open) throw closed(path)
      return checkAddress(reader, text)
    },
    answer(query, found) {
      if (!open) throw closed(path)
      return answers(query, found)
    },
    prepare(group) {
      if (!open) throw closed(path)
      locateBatch(group, reader.views)
      prefetchRuns(group, reader.views)
    },
    useLists(lists) {
      reader.lists = lists
    },
    close() {
      open = false
      map.unmap()
    },
  } satisfies OpenTable & { readClock(): void }
}

function closed(path: string): IpriskError {
  return new IpriskError({
    code: 'table_closed',
    message: `The table ${path} was closed; open it again before checking addresses.`,
    fault: 'usage',
  })
}
