// The error of an item that gets no result: its pool or request ended, or its threads died.

import { IpriskError } from '../base/coded-error.ts'

export function poolFailed(why: string): IpriskError {
  return new IpriskError({
    code: 'pool_failed',
    message: `The pool gave no result: ${why}.`,
    fault: 'environment',
    retryable: true,
  })
}
