// Assertions: a failed one is a bug in iprisk, never bad input.

import { IpriskError } from './coded-error.ts'

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) {
    throw new IpriskError({ code: 'assertion_failed', message, fault: 'bug' })
  }
}
