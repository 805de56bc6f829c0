// The only way to load the compiler and its packages, which serving nodes do without.

import { environmentError, type IpriskError, messageOf } from '../../base/coded-error.ts'
import { compilerRequire, packageVersion } from '../../base/package-root.ts'

const notFound: ReadonlySet<string | undefined> = new Set([
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
])

export async function loadCompiler<T>(part: () => Promise<T>): Promise<T> {
  try {
    return await part()
  } catch (cause) {
    if (!notFound.has((cause as NodeJS.ErrnoException).code)) throw cause
    throw compilerMissingError(cause)
  }
}

/** The error of every build here. One package stands for all; nothing is loaded. */
export function compilerMissing(): IpriskError | undefined {
  try {
    compilerRequire().resolve('@duckdb/node-api')
    return undefined
  } catch (cause) {
    return compilerMissingError(cause)
  }
}

function compilerMissingError(cause: unknown): IpriskError {
  const [why] = messageOf(cause).split('\n')
  const message =
    `The compiler's packages are not installed (${why}). Install them with ` +
    `\`npm install iprisk-compiler@${packageVersion}\` (in a clone: \`npm ci\` without --omit=dev), ` +
    'or build elsewhere and copy the table here.'
  return environmentError('compiler_missing', message, { cause })
}
