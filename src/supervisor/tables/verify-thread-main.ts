// The second thread of the process that verifies a server's first table: verifies the runs of the
// copy whose path it is told, says what is wrong with them, and ends.

import { parentPort } from 'node:worker_threads'
import { messageOf } from '../../base/coded-error.ts'
import { verifyTable } from '../../table/file/verify/verify-table.ts'
import type { RunsVerdict } from './verify-thread.ts'

parentPort?.once('message', (copy: string) => {
  parentPort?.postMessage(verifyRunsOf(copy), [])
})

function verifyRunsOf(copy: string): RunsVerdict {
  try {
    verifyTable(copy, 'runs')
    return {}
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { fault: { code: code ?? 'table_unverified', message: messageOf(error) } }
  }
}
