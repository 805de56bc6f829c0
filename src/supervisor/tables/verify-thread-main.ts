// The second thread of the process that verifies a server's first table: answers if the runs of the
// copy are sound. Otherwise it ends silently, and the process verifies them itself.

import { parentPort } from 'node:worker_threads'
import { verifyTable } from '../../table/file/verify/verify-table.ts'

parentPort?.once('message', (copy: string) => {
  verifyTable(copy, 'runs')
  parentPort?.postMessage(true, [])
})
