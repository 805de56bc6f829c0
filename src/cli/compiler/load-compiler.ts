// The compiler and its development dependencies are loaded only through here, so that a serving
// node does without them.

import { createRequire } from 'node:module'
import { IpriskError, messageOf } from '../../base/coded-error.ts'

/** What `import` and `require` say of a package that is not there. */
const notFound: ReadonlySet<string | undefined> = new Set([
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
])

/** Loads a part of the compiler; says what to do where its packages are not installed. */
export async function loadCompiler<T>(part: () => Promise<T>): Promise<T> {
  try {
    return await part()
  } catch (cause) {
    if (!notFound.has((cause as NodeJS.ErrnoException).code)) throw cause
    throw compilerMissingError(cause)
  }
}

/**
 * The error that every build here would end with, where `npm ci --omit=dev` left the compiler's
 * packages out. One of them stands for all, and nothing is loaded.
 */
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
  return new IpriskError({
    code: 'compiler_missing',
    message:
      `The compiler is not installed here (${why}). It is in a clone of the project after ` +
      '`npm ci` there, without --omit=dev: build in one, and copy the table to where it is needed.',
    fault: 'environment',
    cause,
  })
}
