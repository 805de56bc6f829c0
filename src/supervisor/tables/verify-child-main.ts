// The process that takes one table file in, started by table-copies.ts: copies it, verifies the copy whole,
// tries it against the table in use, and reads it into memory, which all processes share. Prints
// what it found as one line of JSON, exit code 0; or the code of what was thrown, where that has one,
// and on standard error what it says, exit code 1. It ends with its work, so whatever a broken file or
// a slow disk does to it hurts nobody else, and whoever no longer wants the table kills it.

import { constants, copyFileSync, statSync } from 'node:fs'
import { IpriskError, messageOf } from '../../base/coded-error.ts'
import { type OpenTable, openTable } from '../../table/open-table.ts'
import { acceptanceCheck } from '../../table/acceptance-check.ts'
import { verifyTable } from '../../table/file/verify-table.ts'
import type { VerifyResult } from './table-copies.ts'

const [source = '', copy = '', before] = process.argv.slice(2)

try {
  // A pipe or a device would be waited for.
  if (!statSync(source).isFile()) throw irregular(source)
  // Where the file system can, this shares blocks and takes no time.
  copyFileSync(source, copy, constants.COPYFILE_FICLONE)
  verifyTable(copy)
  const table = openTable(copy)
  const inUse = openInUse(before)
  const trial = acceptanceCheck(table, inUse)
  inUse?.close()
  // Workers open it next, and no answer of theirs may wait for a disk.
  if (trial.reasons.length === 0) table.populate()
  const found: VerifyResult = { id: table.id, ...trial }
  table.close()
  process.stdout.write(`${JSON.stringify(found)}\n`)
} catch (error) {
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined) process.stdout.write(`${JSON.stringify({ code })}\n`)
  process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = 1
}

function irregular(path: string): IpriskError {
  const message = `${path} is no regular file`
  return new IpriskError({ code: 'file_unreadable', message, fault: 'input' })
}

/** Somebody may have cleaned the state folder: then there is nothing to compare with. */
function openInUse(path: string | undefined): OpenTable | undefined {
  try {
    return path === undefined ? undefined : openTable(path)
  } catch {
    return undefined
  }
}
