// The thread of check-thread.ts: checks one text, and ends.

import { parentPort } from 'node:worker_threads'
import { checkOf } from './check-thread.ts'
import { checkWritten } from './policy-file.ts'

parentPort?.once('message', (text: string) => {
  parentPort?.postMessage(checkOf(checkWritten(text)), [])
})
