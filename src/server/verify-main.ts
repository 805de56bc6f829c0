// The process that verifies one table file, started by shelf.ts: exit code 0, or 1 and the reason on
// standard error. It ends with its work, so whatever a broken file does to it hurts nobody else.

import { messageOf } from '../base/error.ts'
import { verifyTable } from '../table/verify.ts'

try {
  verifyTable(process.argv[2] ?? '')
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = 1
}
