// Writes a policies file changed through the console or the API, atomically. Invariants: only what
// `checkWritten` accepts is written; a file that has changed meanwhile, or belongs to another user,
// is not replaced.

import { chmodSync, lstatSync, statSync } from 'node:fs'
import { messageOf, inputError, environmentError } from '../base/coded-error.ts'
import { policiesBytesMax } from '../base/limits.ts'
import { replaceFileSync } from '../base/system/atomic-file.ts'
import { callerUserId } from '../base/system/trusted-file.ts'
import type { PolicyFile } from './policy-file.ts'
import { checkWritten, fileTooLong, policiesInvalid, readPolicyFile } from './policy-file.ts'
import type { PolicyPlace } from './policy-place.ts'

export interface ChangedFile {
  readonly revision: string | null
  /** Detects changed descriptions, too. */
  readonly tag?: string | undefined
}

/**
 * `content` is the whole new file. Throws `policies_invalid`, `policies_changed`,
 * `policies_unwritable`.
 */
export function savePolicies(place: PolicyPlace, changed: ChangedFile, content: object) {
  const text = `${JSON.stringify(content, null, 2)}\n`
  const checked = checkWritten(text)
  if ('mistakes' in checked) throw policiesInvalid(place.path, checked.mistakes)
  if (Buffer.byteLength(text) > policiesBytesMax) {
    // No start would read it.
    throw policiesInvalid(place.path, [fileTooLong])
  }
  const before = fileAt(place)
  const difference = differenceOf(before, changed)
  if (difference !== undefined) {
    throw inputError('policies_changed', `The policies in ${place.path} ${difference}`)
  }
  try {
    writePolicies(place.path, text)
  } catch (cause) {
    throw environmentError(
      'policies_unwritable',
      `The policies in ${place.path} cannot be written: ${messageOf(cause)}. Change them where they are deployed from.`,
      { cause },
    )
  }
  return { before: before?.policies.revision ?? null, revision: checked.policies.revision }
}

/** `null` if it is invalid. */
function fileAt(place: PolicyPlace): PolicyFile | undefined | null {
  if (lstatSync(place.path, { throwIfNoEntry: false }) === undefined) return undefined
  try {
    return readPolicyFile(place) ?? null
  } catch {
    return null
  }
}

function differenceOf(
  file: PolicyFile | undefined | null,
  { revision, tag }: ChangedFile,
): string | undefined {
  const anew = 'Reload them, then change them again.'
  if (file === null) {
    // Reloading would give those in use, again and again.
    const mend = 'Fix what "iprisk policy check" reports, or restore the file.'
    return `are invalid in their current file. ${mend}`
  }
  if (file === undefined) {
    return revision === null ? undefined : 'are missing: their file was removed. Restore it.'
  }
  const is = file.policies.revision
  if (is !== revision) {
    return `were changed in the meantime: their revision is ${is}, not ${revision ?? 'none'}. ${anew}`
  }
  if (tag === undefined || tag === file.tag) return undefined
  return `were changed in the meantime: they decide alike, but the file differs. ${anew}`
}

function writePolicies(path: string, text: string): void {
  for (const read of [lstatSync, statSync]) {
    const stat = read(path, { throwIfNoEntry: false })
    if (stat !== undefined && stat.uid !== callerUserId()) {
      throw new Error(`it belongs to user ${stat.uid}, not to the user running this server`)
    }
  }
  replaceFileSync(path, text)
  // A file that others can write would not be used (trusted-file.ts).
  const { mode } = statSync(path)
  if ((mode & 0o022) !== 0) chmodSync(path, mode & 0o755)
}
