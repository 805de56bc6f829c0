// Ignores SIGUSR1, on which Node opens its debugger on loopback, where any local user could run
// code as this user. For our own programs only, not for applications with the library.

import { writeSync } from 'node:fs'
import process from 'node:process'

/** Repeated signals must not fill a log. */
const reportMs = 60_000

type Report = (message: string) => void

const toStandardError: Report = (message) => {
  try {
    writeSync(2, `iprisk: ${message}\n`)
  } catch {
    // Standard error has no reader.
  }
}

let report = toStandardError
let nextMs = 0

export function ignoreDebuggerSignal(how: Report = toStandardError): void {
  report = how
  if (!process.listeners('SIGUSR1').includes(onSignal)) process.on('SIGUSR1', onSignal)
}

function onSignal(): void {
  const nowMs = performance.now()
  if (nowMs < nextMs) return
  nextMs = nowMs + reportMs
  report('SIGUSR1 is ignored: it would open the debugger of Node.js to every local user.')
}
