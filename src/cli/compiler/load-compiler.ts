// The only way to load the compiler and its development dependencies: serving nodes do without
// them.

import { createRequire } from 'node:module'
import { environmentError, type IpriskError, messageOf } from '../../base/coded-error.ts'

const notFound: ReadonlySet<string | undefined> = new Set([
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
])

/** Explains what to do if its packages are missing. */
export async function loadCompiler<T>(part: () => Promise<T>): Promise<T> {
  try {
    return await part()
  } catch (cause) {
    if (!notFound.has((cause as NodeJS.ErrnoException).code)) throw cause
    throw compilerMissingError(cause)
  }
}

/** The error that every build here would end with after `npm ci --omit=dev`. One package stands for
 * all; nothing is loaded. */
export function compilerMissing(): IpriskError | undefined {
  try {
    createRequire(import.meta.url).resolve('undici')
    return undefined
  } catch (cause) {
    return compilerMissingError(cause)
  }
}

function compilerMissingError(cause: unknown): IpriskError {
  const [why] = messageOf(cause).split('\n')
  const message =
    `The compiler is not installed here (${why}). It is in a clone of the project after ` +
    '`npm ci` there, without --omit=dev: build in one, and copy the table to where it is needed.'
  return environmentError('compiler_missing', message, { cause })
}
