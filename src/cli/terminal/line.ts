// A line for people: text, with pieces in a style of ours. Text may come from anywhere, a feed, a
// log, the name of a file; so what would steer a terminal in it is shown escaped, line breaks too,
// and only a style brings codes of a terminal into a line.

import { escapeControls } from '../../base/text/clean-text.ts'
import type { Level } from '../../model/kind.ts'

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
