// Where a command writes: data to standard output, progress and problems to standard error. Passed
// in, so that commands are plain functions. Nothing else writes to a terminal
// (test/structure/terminal.test.ts).
//
// A line for people is text with pieces in a style of ours. Text may come from anywhere, a feed, a
// log, the name of a file; so what would steer a terminal in it is shown escaped, line breaks too,
// and only a style brings codes of a terminal into a line.

import type { Readable } from 'node:stream'
import { alignColumns } from '../../base/text/align-columns.ts'
import { escapeControls } from '../../base/text/clean-text.ts'
import type { Settings } from '../../config/settings.ts'
import type { Level } from '../../model/kind.ts'

export interface Io {
  /** One line of standard output; a line break in its text is shown, not written. */
  readonly out: (line: Line) => void
  /** The same of many lines; resolves when the system has taken them. */
  readonly lines: (lines: readonly Line[]) => Promise<void>
  /** The same for people: progress, warnings, errors. */
  readonly err: (line: Line) => void
  /**
   * Whole lines of data as they are, on a terminal as `out` shows text; resolves when the system
   * has taken all of it, as fast as the reader reads.
   */
  readonly write: (bytes: Uint8Array) => Promise<void>
  /** On a terminal this line stands in place of the one before, `''` for none; else nothing. */
  readonly status: (line: string) => void
  readonly outIsTerminal: boolean
  /** How wide that terminal is; `undefined` where there is none. */
  readonly outColumns: number | undefined
  readonly errIsTerminal: boolean
  readonly input: () => Readable
  /** When the command began, in milliseconds since the epoch. */
  readonly now: number
}

/** What runs a command. Without an exit code of its own it ends with `exitCodes.done`. */
export type Command<Result = Promise<void>, Used = Io> = (
  settings: Settings,
  io: Used,
  args: readonly string[],
) => Result

/** Exit codes (contract 4). */
export const exitCodes = { done: 0, failed: 1, usage: 2 } as const

/** What a shell says of a program that SIGINT ended. */
export const interruptedCode = 130

export function printLines({ out }: Pick<Io, 'out'>, lines: Iterable<Line>): void {
  for (const line of lines) out(line)
}

/** Rows under a head; columns from `leftColumns` on are aligned right. */
export function printTable(
  io: Pick<Io, 'out'>,
  head: readonly string[],
  rows: readonly (readonly string[])[],
  leftColumns = head.length,
): void {
  printLines(io, alignColumns([head, ...rows], leftColumns))
}

/** What a command found out: with `--json` as one line of JSON, else as lines for people. */
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

/** The line as it is written; styles show where `colour` is true. */
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

/** The colour of a level, wherever an answer is shown to people. */
export const levelStyles = {
  low: 'green',
  medium: 'yellow',
  high: 'yellow',
  very_high: 'red',
  critical: 'red',
} as const satisfies Readonly<Record<Level, Style>>
