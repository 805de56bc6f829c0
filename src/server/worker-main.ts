// The program of a worker process: connects createWorker to its primary, the real tables, the key
// store and the log. Forked by crew.ts; it does nothing when run by hand.

import process from 'node:process'
import { openAccount } from '../account/account.ts'
import { createLog } from '../base/log.ts'
import { openTable } from '../table/open.ts'
import type { ToWorker } from './message.ts'
import { createWorker } from './worker.ts'

const receive = createWorker({
  send: (message) => {
    // The channel is closed where the primary has just died; then this process ends by itself.
    if (process.connected) process.send?.(message)
  },
  // Not read in here, on a loop that answers: take-main.ts did, and memory is shared.
  openTable,
  openAccount,
  createLog: ({ logLevel, logAddresses }) =>
    createLog({
      level: logLevel,
      name: 'iprisk-worker',
      pretty: process.stderr.isTTY,
      addresses: logAddresses,
    }),
  exit: (code) => process.exit(code),
})

// A terminal sends these to every process of its group; the primary says when to drain.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
process.on('message', (message: ToWorker) => receive(message))
process.send?.({ kind: 'hello' })
