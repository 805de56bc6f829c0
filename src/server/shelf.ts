// The primary's private copies of table files, `<state>/serving/<pid>-<number>.iprisk`. Workers map
// those and never the operator's file: a `cp` over a mapped file is a SIGBUS in every worker. A
// copy is verified whole, in a process of its own, before anybody opens it.
//
// Invariants: a copy is never written to once it has its name; copies of dead servers are removed
// at the next start; removing a copy that is still mapped hurts nobody (its pages live on).

import { execFile } from 'node:child_process'
import { constants, copyFileSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { IpriskError, messageOf } from '../base/error.ts'
import type { TableFile } from './message.ts'

/** A table of the world is verified in seconds; a machine that swaps may take far longer. */
const verifyMsMax = 300_000

const verifyProgram = fileURLToPath(new URL('./verify-main.js', import.meta.url))

export interface Shelf {
  /** Copies and verifies the file at `path`. Throws what is wrong with it; then nothing is kept. */
  readonly take: (path: string) => Promise<TableFile>
  readonly remove: (file: TableFile) => void
  /** Removes every copy that this server made. */
  readonly removeAll: () => void
}

export function createShelf(
  stateFolder: string,
  verify: (path: string) => Promise<void> = verifyInChild,
): Shelf {
  const folder = join(stateFolder, 'serving')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // What servers that were killed left behind. The copies of one that lives stay.
  removeCopies(folder, (pid) => pid === process.pid || !lives(pid))
  let count = 0
  return {
    take: async (source) => {
      count += 1
      const table = count
      const path = join(folder, `${process.pid}-${table}.iprisk`)
      const unfinished = `${path}.part`
      try {
        // Where the file system can, this shares blocks and takes no time.
        copyFileSync(source, unfinished, constants.COPYFILE_FICLONE)
        await verify(unfinished)
        renameSync(unfinished, path)
      } catch (cause) {
        rmSync(unfinished, { force: true })
        throw refused(source, unfinished, cause)
      }
      return { table, path }
    },
    remove: (file) => rmSync(file.path, { force: true }),
    removeAll: () => removeCopies(folder, (pid) => pid === process.pid),
  }
}

/** Removes the copies made by the processes that `mayGo` names. */
function removeCopies(folder: string, mayGo: (pid: number) => boolean): void {
  for (const name of readdirSync(folder)) {
    const pid = Number(/^(\d+)-\d+\.iprisk(\.part)?$/.exec(name)?.[1])
    if (!Number.isNaN(pid) && mayGo(pid)) rmSync(join(folder, name), { force: true })
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives and is somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** What is wrong, said of the operator's file: its copy is gone. */
function refused(source: string, copy: string, cause: unknown): IpriskError {
  const message = messageOf(cause).replaceAll(copy, source)
  return new IpriskError({ code: 'table_refused', message, fault: 'input', cause })
}

/** Verification reads every byte and may meet any damage: not on a loop that serves. */
async function verifyInChild(path: string): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [verifyProgram, path], { timeout: verifyMsMax })
  } catch (cause) {
    const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : ''
    throw new Error(said === '' ? `The table ${path} could not be verified.` : said, { cause })
  }
}
