// An error as the log may show it: its kind and where it came from, never its message, which may
// hold an address or a key.

import { IpriskError } from '../../base/coded-error.ts'

/** At most this many places of the stack. */
const placesMax = 10

/** The kind of an error and where it came from, without its message. */
export function describeError(error: unknown): {
  readonly error: string
  readonly code?: string
  readonly at?: readonly string[]
} {
  if (!(error instanceof Error)) return { error: typeof error }
  const at = (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, placesMax)
    .map((line) => line.trim())
  return { error: error.name, ...(error instanceof IpriskError ? { code: error.code } : {}), at }
}
