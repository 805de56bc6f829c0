// This process as an `Io`. A reader that goes away (`| head`) ends the program quietly.

import { constants } from 'node:os'
import { escapeLines } from '../../base/text/clean-text.ts'
import { type Io, renderLine } from './io.ts'

export type Streams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>

export function processIo(
  { stdin, stdout, stderr }: Streams = process,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Io {
  // https://no-color.org: set and not empty.
  const plain = (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb'
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  let shown = ''
  return {
    out: (line) => void stdout.write(`${renderLine(line, stdout.isTTY && !plain)}\n`),
    err: (line) => void stderr.write(`${renderLine(line, stderr.isTTY && !plain)}\n`),
    lines: (lines) =>
      new Promise((resolve) => {
        const text = lines.map((line) => `${renderLine(line, stdout.isTTY && !plain)}\n`).join('')
        stdout.write(text, () => resolve())
      }),
    outIsTerminal: stdout.isTTY,
    outColumns: stdout.columns,
    errIsTerminal: stderr.isTTY,
    input: () => stdin,
    now: Date.now(),
    write: (bytes) =>
      new Promise((resolve) => {
        stdout.write(stdout.isTTY ? escapeLines(decoder.decode(bytes)) : bytes, () => resolve())
      }),
    status: (line) => {
      if (!stderr.isTTY || line === shown) return
      shown = line
      stderr.write(`\r\x1b[K${renderLine(line, false)}`)
    },
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

// As PID 1 of a container: the kernel drops signals that PID 1 does not listen for, so Ctrl-C and
// `docker stop` would not end a build.

const signals = ['SIGINT', 'SIGTERM'] as const

/** Only while no command listens for the signal. */
export function endBySignals(): void {
  for (const signal of signals) {
    const end = (): void => {
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal])
    }
    process.on(signal, end)
  }
}
