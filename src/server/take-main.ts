// The process that takes one table file in, started by shelf.ts: copies it, verifies the copy whole,
// and reads it into memory, which all processes share. Exit code 0, or 1 and the reason on standard
// error. It ends with its work, so whatever a broken file or a slow disk does to it hurts nobody
// else, and whoever no longer wants the table kills it.

import { constants, copyFileSync } from 'node:fs'
import { constants as osConstants, setPriority } from 'node:os'
import { messageOf } from '../base/error.ts'
import { openTable } from '../table/open.ts'
import { verifyTable } from '../table/verify.ts'

const [source = '', copy = ''] = process.argv.slice(2)

try {
  // The workers answer on the same cores meanwhile.
  setPriority(osConstants.priority.PRIORITY_BELOW_NORMAL)
} catch {
  // A system that forbids it; the work is the same.
}

try {
  // Where the file system can, this shares blocks and takes no time.
  copyFileSync(source, copy, constants.COPYFILE_FICLONE)
  verifyTable(copy)
  // Workers open it next, and no answer of theirs may wait for a disk.
  const table = openTable(copy)
  table.populate()
  table.close()
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = 1
}
