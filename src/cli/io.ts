// Where a command writes: data to standard output, progress and problems to standard error. Passed
// in, so that commands are plain functions.

export interface Io {
  /** One line of data. */
  readonly out: (line: string) => void
  /** One line for people: progress, warnings, errors. */
  readonly err: (line: string) => void
  readonly outIsTerminal: boolean
  readonly errIsTerminal: boolean
  /** Standard input, line by line, without line ends. */
  readonly lines: () => AsyncIterable<string>
}

/** Exit codes (contract 4). */
export const exitCodes = { done: 0, failed: 1, usage: 2 } as const
