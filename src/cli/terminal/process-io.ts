// The real process as an `Io`. A reader that goes away (`| head`) ends the program quietly.

import type { Io } from './io.ts'

export function processIo(): Io {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  let shown = ''
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    outIsTerminal: process.stdout.isTTY,
    outColumns: process.stdout.columns,
    errIsTerminal: process.stderr.isTTY,
    input: () => process.stdin,
    write: (bytes) => new Promise((resolve) => process.stdout.write(bytes, () => resolve())),
    status: (line) => {
      if (!process.stderr.isTTY || line === shown) return
      shown = line
      process.stderr.write(`\r\x1b[K${line}`)
    },
  }
}
