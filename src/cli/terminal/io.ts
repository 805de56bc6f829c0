// Where a command writes: data to standard output, progress and problems to standard error. Passed
// in, so that commands are plain functions; nothing else writes to a terminal
// (test/structure/terminal.test.ts).
// Texts may come from feeds, logs or file names, so control characters and line breaks in them
// are escaped; only our styles put terminal codes into a line.

import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { alignColumns } from '../../base/text/align-columns.ts'
import { escapeControls } from '../../base/text/clean-text.ts'
import type { Settings } from '../../config/settings.ts'
import type { Level } from '../../model/kind.ts'

export interface Io {
  readonly out: (line: Line) => void
  /** Resolves once the system has accepted them. */
  readonly lines: (lines: readonly Line[]) => Promise<void>
  /** For people: progress, warnings, errors. */
  readonly err: (line: Line) => void
  /** Raw lines of data, escaped only on a terminal; resolves when the system has taken them. */
  readonly write: (bytes: Uint8Array) => Promise<void>
  /** Replaces the previous status line; `''` clears it. Only on a terminal. */
  readonly status: (line: string) => void
  readonly outIsTerminal: boolean
  /** `undefined` without a terminal. */
  readonly outColumns: number | undefined
  readonly errIsTerminal: boolean
  readonly input: () => Readable
  /** When the command started, in milliseconds since the epoch. */
  readonly now: number
}

/** Without a result the exit code is `exitCodes.done`. */
export type Command<Result = Promise<void>, Used = Io> = (
  settings: Settings,
  io: Used,
  args: readonly string[],
) => Result

/** Exit codes (contract 4: 0 done, 1 failed, 2 wrong usage). */
export const exitCodes = { done: 0, failed: 1, usage: 2 } as const

/** As shells report SIGINT. */
export const interruptedCode = 130

export function printLines({ out }: Pick<Io, 'out'>, lines: Iterable<Line>): void {
  for (const line of lines) out(line)
}

/** Columns from `leftColumns` on are aligned right. */
export function printTable(
  io: Pick<Io, 'out'>,
  head: readonly string[],
  rows: readonly (readonly string[])[],
  leftColumns = head.length,
): void {
  printLines(io, alignColumns([head, ...rows], leftColumns))
}

export function printResult(
  io: Pick<Io, 'out'>,
  json: boolean,
  facts: unknown,
  lines: () => readonly Line[],
): void {
  printLines(io, json ? [JSON.stringify(facts)] : lines())
}

export function warn({ err }: Pick<Io, 'err'>, text: string): void {
  err(`iprisk: warning: ${text}`)
}

const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export type Style = keyof typeof styles

export interface StyledText {
  readonly text: string
  readonly style: Style
}

export type Line = string | readonly (string | StyledText)[]

/** Without `colour`, styles are dropped. */
export function renderLine(line: Line, colour: boolean): string {
  const pieces = typeof line === 'string' ? [line] : line
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return escapeControls(piece)
      const text = escapeControls(piece.text)
      return colour ? `\x1b[${styles[piece.style]}m${text}\x1b[0m` : text
    })
    .join('')
}

export const levelStyles = {
  low: 'green',
  medium: 'yellow',
  high: 'yellow',
  very_high: 'red',
  critical: 'red',
} as const satisfies Readonly<Record<Level, Style>>

export type AskIo = Pick<Io, 'input' | 'errIsTerminal'>

/**
 * Asks on a terminal before an act; without one the answer is yes, for scripts must not wait.
 * Anything but y or yes is no, the end of the input included.
 */
export async function confirm(io: AskIo & Pick<Io, 'err'>, question: string): Promise<boolean> {
  const input = io.input()
  if (!io.errIsTerminal || !('isTTY' in input) || input.isTTY !== true) return true
  io.err(`${question} [y/N]`)
  const lines = createInterface({ input })
  for await (const line of lines) return /^y(?:es)?$/i.test(line.trim())
  return false
}
