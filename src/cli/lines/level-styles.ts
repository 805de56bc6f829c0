// The colour of a level, wherever an answer is shown to people.

import type { Level } from '../../model/kind.ts'
import type { Style } from '../terminal/line.ts'

export const levelStyles = {
  low: 'green',
  medium: 'yellow',
  high: 'yellow',
  very_high: 'red',
  critical: 'red',
} as const satisfies Readonly<Record<Level, Style>>
