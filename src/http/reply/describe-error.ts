// An error as the log may show it: its kind and where it came from, never its message, which may
// hold an address or a key. Codes are words of ours, of Node or of the system: `ENOSPC` says what a
// stack does not.

/** At most this many places of the stack. */
const placesMax = 10

const codeForm = /^\w{1,64}$/

/** The kind of an error and where it came from, without its message. */
export function describeError(error: unknown): {
  readonly error: string
  readonly code?: string
  /** The code of what led to it. */
  readonly cause?: string
  readonly at?: readonly string[]
} {
  if (!(error instanceof Error)) return { error: typeof error }
  const at = (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, placesMax)
    .map((line) => line.trim())
  const code = codeOf(error)
  const cause = codeOf(error.cause)
  return {
    error: error.name,
    ...(code === undefined ? {} : { code }),
    ...(cause === undefined ? {} : { cause }),
    at,
  }
}

/** `undefined` where it has none. LMDB's are numbers. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as { readonly code?: unknown }
  const text = typeof code === 'number' ? `${code}` : code
  return typeof text === 'string' && codeForm.test(text) ? text : undefined
}
