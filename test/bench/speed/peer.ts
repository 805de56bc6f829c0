// Whether a peer may be missing where tests run: on a machine of one's own, yes, and the test says
// why it is skipped; in CI everything must be there.

import { expect } from 'vitest'

interface Context {
  readonly skip: (reason: string) => never
}

/** The value, or the end of the test. */
export function need<T>(
  found: { readonly value: T } | { readonly reason: string },
  context: Context,
): T {
  if ('value' in found) return found.value
  expect(process.env['CI'], found.reason).toBeUndefined()
  return context.skip(found.reason)
}
