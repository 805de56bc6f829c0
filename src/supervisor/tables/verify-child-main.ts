// The process that prepares one table file, started by table-copies.ts: copies it, verifies the
// whole copy, checks its answers against the table in use, and reads it into memory, which all
// processes share. Prints its result as one line of JSON, exit code 0; or the code of what was
// thrown, where that has one, with the message on standard error, exit code 1. The process ends
// with its work, so a broken file or a slow disk harms no other process, and table-copies.ts can
// stop it by killing it.

import { constants, copyFileSync, statSync } from 'node:fs'
import { IpriskError, messageOf } from '../../base/coded-error.ts'
import { type OpenTable, openTable } from '../../table/open-table.ts'
import { acceptanceCheck } from '../../table/acceptance-check.ts'
import { verifyTable } from '../../table/file/verify/verify-table.ts'
import type { VerifyResult } from './table-copies.ts'

const [source = '', copy = '', before] = process.argv.slice(2)

try {
  // Reading a pipe or a device would wait for ever.
  if (!statSync(source).isFile()) throw irregular(source)
  // Where the file system can, this shares blocks and takes no time.
  copyFileSync(source, copy, constants.COPYFILE_FICLONE)
  verifyTable(copy)
  const table = openTable(copy)
  const inUse = openInUse(before)
  const acceptance = acceptanceCheck(table, inUse)
  inUse?.close()
  // Workers open it next, and no answer of theirs may wait for a disk.
  if (acceptance.reasons.length === 0) table.populate()
  const found: VerifyResult = { id: table.id, ...acceptance }
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

/** The state folder may have been cleaned: then there is no table to compare with. */
function openInUse(path: string | undefined): OpenTable | undefined {
  try {
    return path === undefined ? undefined : openTable(path)
  } catch {
    return undefined
  }
}
