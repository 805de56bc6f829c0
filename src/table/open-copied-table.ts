// Opens a table file that others may write, by mapping a private copy (shared-copy.ts), so that
// truncating or overwriting the file cannot end the process. Making a copy compares every checksum,
// so an unfinished file is refused. If no copy can be made, the file itself is mapped, with a
// warning.

import { statSync } from 'node:fs'
import { IpriskError } from '../base/coded-error.ts'
import { mapFile } from '../base/system/memory-map.ts'
import type { CopySteps, SharedCopy } from '../base/system/copies/shared-copy.ts'
import { shareCopy, uncopied } from '../base/system/copies/shared-copy.ts'
import { readTableView, compareChecksums } from './file/table-view.ts'
import { type OpenTable, type OpenTableOptions, openTable } from './open-table.ts'

export interface CopiedTableOptions extends Pick<OpenTableOptions, 'now'> {
  /**
   * `false` maps the file itself, which saves the copy's disk space and the time to make it. Then
   * truncating or overwriting the file in place ends the process (SIGBUS); renaming another file
   * into its place does not. Default true.
   */
  readonly copy?: boolean
}

export interface CopiedTable extends OpenTable {
  readonly mapped: string
  /** When the file was written, milliseconds since the epoch. */
  readonly builtMs: number
}

/**
 * Opens the table at `path` by a private copy, which all processes of a user share and which is
 * removed when none uses it. Waits up to 10 s while another process makes that copy. Throws
 * `file_unreadable`, `table_corrupt` (section and offset named) or `table_version`.
 */
export function openCopiedTable(path: string, options: CopiedTableOptions = {}): CopiedTable {
  return waitFor(openCopiedTableInSteps(path, options))
}

/** The copy alone, for other readers of the file; the file itself if no copy can be made. */
export const takeTableCopy = (path: string): Pick<SharedCopy, 'path' | 'release'> =>
  waitFor(tryToShare(path)) ?? { path, release: () => undefined }

function waitFor<T>(steps: CopySteps<T>): T {
  let step = steps.next()
  while (step.done !== true) {
    if (step.value > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, step.value)
    step = steps.next()
  }
  return step.value
}

/** The same in steps; `return` ends them early and cleans up. */
export function* openCopiedTableInSteps(
  path: string,
  { copy = true, ...options }: CopiedTableOptions = {},
): CopySteps<CopiedTable> {
  const held = copy ? yield* tryToShare(path) : undefined
  try {
    const mapped = held?.path ?? path
    const table = openTable(path, { ...options, mapped })
    return {
      ...table,
      mapped,
      builtMs: held?.sourceMs ?? writtenMsOf(path),
      close() {
        table.close()
        held?.release()
      },
    }
  } catch (error) {
    held?.release()
    throw error
  }
}

/** A mapped file's name may be gone. */
const writtenMsOf = (path: string): number =>
  Math.floor(statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())

function* tryToShare(path: string): CopySteps<SharedCopy | undefined> {
  try {
    return yield* shareCopy(path, (copy) => verifyCopy(copy, path))
  } catch (error) {
    if (!(error instanceof IpriskError) || error.code !== uncopied) throw error
    warnOnce(
      `${path} is mapped in place, so overwriting it in place ends this process: ` +
        `no copy could be made (${error.message}). Set XDG_CACHE_HOME to a folder of this user ` +
        'on a disk with enough space.',
    )
    return undefined
  }
}

function* verifyCopy(copy: string, path: string): CopySteps<void> {
  const map = mapFile(copy)
  try {
    const file = readTableView(map.bytes, path)
    for (const _ of compareChecksums(map.bytes, file, path)) yield 0
  } finally {
    map.unmap()
  }
}

const warned = new Set<string>()

function warnOnce(message: string): void {
  if (warned.has(message)) return
  warned.add(message)
  process.emitWarning(message, { type: 'IpriskWarning', code: uncopied })
}
