// The second thread that verifies a first table: answers if the copy's runs are valid. Otherwise it
// ends silently, and the process verifies them itself.

import { parentPort } from 'node:worker_threads'
import { verifyTable } from '../../table/file/verify/verify-table.ts'

parentPort?.once('message', (copy: string) => {
  verifyTable(copy, 'runs')
  parentPort?.postMessage(true, [])
})
