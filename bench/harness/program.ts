// How every benchmark program talks and ends: progress to standard error, one sentence for a
// failure, the product's exit codes.

import { IpriskError, messageOf } from '../../src/base/coded-error.ts'
import { exitCodes } from '../../src/cli/terminal/io.ts'

/** One line of progress. */
export function logProgress(line: string): void {
  process.stderr.write(`${line}\n`)
}

const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const

/** Runs a program's `main`, which gives the exit code. A signal ends it by way of 'exit' events. */
export async function runProgram(main: () => Promise<number>): Promise<void> {
  for (const [signal, code] of signals) process.on(signal, () => process.exit(code))
  process.exitCode = await main().catch(fail)
}

/** Says what went wrong; gives the exit code. */
function fail(error: unknown): number {
  logProgress(`bench: ${messageOf(error)}`)
  if (isUsage(error)) return exitCodes.usage
  // A coded error explains itself; anything else is a fault of the benchmark.
  if (!(error instanceof IpriskError) && error instanceof Error) logProgress(error.stack ?? '')
  return exitCodes.failed
}

/** Our own, or that of node's `parseArgs`. */
function isUsage(error: unknown): boolean {
  if (error instanceof IpriskError) return error.fault === 'usage'
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code.startsWith('ERR_PARSE_ARGS_')
}
