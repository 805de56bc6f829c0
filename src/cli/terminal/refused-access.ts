// What a system's refusal means that no second try changes: this user may not write, or read, what
// is at a path. A disk that is full or broken is isDiskError's (src/base/coded-error.ts).

import { accessSync, constants } from 'node:fs'

const codes: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS'])
const readingCalls: ReadonlySet<string> = new Set(['scandir', 'stat', 'lstat', 'read', 'readlink'])

/** `this user may not write /srv/table`; `undefined` for any other error. */
export function refusedAccess(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, path, dest, syscall } = error as NodeJS.ErrnoException & { readonly dest?: string }
  const place = dest ?? path
  if (!codes.has(code ?? '') || place === undefined) return undefined
  const reads = readingCalls.has(syscall ?? '') || (syscall === 'open' && isUnreadable(place))
  return `this user may not ${reads ? 'read' : 'write'} ${place}`
}

/** An error does not say what a file was opened for. */
function isUnreadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES'
  }
}
