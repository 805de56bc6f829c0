// A process that tries broken table files, for a signal or a loop without end may end it. It prints
// what it tries next and sends a report at its end.

import { fork } from 'node:child_process'

/** For one file: more is a loop without end. */
const silenceMsMax = 30_000

/** A child that a signal ends, or that is silent, is a fault named by its last words. */
export function reportOfChild<Report>(
  program: string,
  args: readonly string[],
  broken: (fault: string) => Report,
): Promise<Report> {
  return new Promise((resolve, reject) => {
    const child = fork(program, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    let last = ''
    let report: Report | undefined
    const watch = setTimeout(() => child.kill('SIGKILL'), silenceMsMax)
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      watch.refresh()
      last = text.trimEnd().split('\n').at(-1) ?? last
    })
    child.on('message', (message) => {
      report = message as Report
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(watch)
      resolve(report ?? broken(`ended with ${signal ?? code} at: ${last}`))
    })
  })
}
