// How every benchmark program works and ends: a folder of its own, progress to standard error, the
// report to standard output, one sentence for a failure, the product's exit codes.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { alignColumns } from '../../src/base/text/align-columns.ts'
import { IpriskError, messageOf } from '../../src/base/coded-error.ts'
import { copyLargeFile } from '../../src/base/system/copy-large-file.ts'
import { exitCodes } from '../../src/cli/terminal/io.ts'
import { type RunHead, saveRun } from './run.ts'

/** One line of progress. */
export function logProgress(line: string): void {
  process.stderr.write(`${line}\n`)
}

/**
 * A folder that is removed when the program ends: by a signal, too, after the servers have ended.
 */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `iprisk-bench-${name}-`))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A server takes in a table that a build renames into place meanwhile; a copy stays as it is. */
export function copyTable(table: string, folder: string): string {
  const copy = join(folder, 'measured.iprisk')
  copyLargeFile(table, copy)
  return copy
}

/** Prints a report, as JSON where asked, and keeps it as `<name>.json` where asked. */
export function showReport(
  name: string,
  report: RunHead,
  how: {
    readonly json: boolean
    readonly save: boolean
    /** In place of `reportText`. */
    readonly text?: string
  },
): void {
  const { json, save, text } = how
  process.stdout.write(`${json ? JSON.stringify(report) : (text ?? reportText(report))}\n`)
  if (save) logProgress(`kept in ${saveRun(report, name)}`)
}

const headNames: ReadonlySet<string> = new Set(['at', 'flags', 'machine', 'kind'])

/** A report for a terminal: a line for each figure, and its lists of flat objects as tables. */
export function reportText(report: RunHead): string {
  const { machine } = report
  const lines = [`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}`]
  for (const [name, value] of Object.entries<unknown>({ ...report })) {
    if (headNames.has(name)) continue
    if (!Array.isArray(value)) lines.push(`${name}: ${cellText(value)}`)
    else if (value.length > 0) {
      const rows = value as readonly Readonly<Record<string, unknown>>[]
      const cells = rows.map((row) => Object.values(row).map(cellText))
      lines.push('', `${name}:`, ...alignColumns([Object.keys(rows[0]!), ...cells], 1), '')
    }
  }
  return lines.join('\n').trimEnd()
}

function cellText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'number' || Number.isInteger(value)) return JSON.stringify(value)
  return String(Number(value.toPrecision(4)))
}

const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const

/** Runs a program's `main`, which gives the exit code. A signal ends it by way of 'exit' events. */
export async function runProgram(main: () => Promise<number>): Promise<void> {
  for (const [signal, code] of signals) process.on(signal, () => process.exit(code))
  try {
    process.exitCode = await main()
  } catch (error) {
    process.exitCode = fail(error)
  }
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
