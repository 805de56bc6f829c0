// The one error for what an MMDB file holds at a byte of it and must not.

import { IpriskError } from '../../src/base/coded-error.ts'

/** `mmdb_invalid`: `problem` says what is wrong at `offset` of the file `path`. */
export function mmdbError(options: {
  readonly path: string
  readonly offset: number
  readonly problem: string
  readonly cause?: unknown
}): IpriskError {
  const { path, offset, problem, cause } = options
  return new IpriskError({
    code: 'mmdb_invalid',
    message:
      `${path}: byte ${offset}: ${problem}. The file is damaged or no MMDB file; ` +
      'fetch it again from its publisher.',
    fault: 'input',
    cause,
  })
}
