// Where a command writes: data to standard output, progress and problems to standard error. Passed
// in, so that commands are plain functions. Nothing else writes to a terminal
// (test/structure/terminal.test.ts).

import type { Readable } from 'node:stream'
import type { Line } from './line.ts'

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
  /** Standard input. */
  readonly input: () => Readable
}

/** Exit codes (contract 4). */
export const exitCodes = { done: 0, failed: 1, usage: 2 } as const

/** What a shell says of a program that SIGINT ended. */
export const interruptedCode = 130
