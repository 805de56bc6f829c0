// The second thread of the process that verifies a server's first table: verifies the runs of the
// copy whose path it is told, and says that they are sound. It ends without a word where they are
// not: the process then verifies them itself, and says what is wrong.

import { parentPort } from 'node:worker_threads'
import { verifyTable } from '../../table/file/verify/verify-table.ts'

parentPort?.once('message', (copy: string) => {
  verifyTable(copy, 'runs')
  parentPort?.postMessage(true, [])
})
