// Writes a policies file changed through the console or the API, atomically. Invariants: only what
// `checkWritten` accepts is written; a file that has changed meanwhile, or is another user's, is
// not replaced.

import { chmodSync, lstatSync, statSync } from 'node:fs'
import { messageOf, inputError, environmentError } from '../base/coded-error.ts'
import { policiesBytesMax } from '../base/limits.ts'
import { replaceFileSync } from '../base/system/atomic-file.ts'
import { callerUserId } from '../base/system/trusted-file.ts'
import type { PolicyFile } from './policy-file.ts'
import { checkWritten, fileTooLong, policiesInvalid, readPolicyFile } from './policy-file.ts'
import type { PolicyPlace } from './policy-place.ts'

/** As it was read before the change. */
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
    // It would be read by no start.
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
      `The policies in ${place.path} cannot be written: ${messageOf(cause)}. Change them by the way that they came.`,
      { cause },
    )
  }
  return { before: before?.policies.revision ?? null, revision: checked.policies.revision }
}

/** `null` where it cannot be used. */
function fileAt(place: PolicyPlace): PolicyFile | undefined | null {
  if (lstatSync(place.path, { throwIfNoEntry: false }) === undefined) return undefined
  try {
    return readPolicyFile(place) ?? null
  } catch {
    return null
  }
}

/** The end of a sentence. */
function differenceOf(
  file: PolicyFile | undefined | null,
  { revision, tag }: ChangedFile,
): string | undefined {
  const anew = 'Load them anew, then change them again.'
  if (file === null) {
    // Loading them anew would give those in use, again and again.
    const mend = 'Mend what "iprisk policy check" says, or put the file back.'
    return `cannot be used as their file is now. ${mend}`
  }
  if (file === undefined) {
    return revision === null ? undefined : 'are gone: their file was removed. Put it back.'
  }
  const is = file.policies.revision
  if (is !== revision) {
    return `were changed meanwhile: they are of revision ${is}, not ${revision ?? 'none'}. ${anew}`
  }
  if (tag === undefined || tag === file.tag) return undefined
  return `were changed meanwhile: they decide alike, but their file is another. ${anew}`
}

function writePolicies(path: string, text: string): void {
  for (const read of [lstatSync, statSync]) {
    const stat = read(path, { throwIfNoEntry: false })
    if (stat !== undefined && stat.uid !== callerUserId()) {
      throw new Error(`it belongs to user ${stat.uid}, not to the user who runs this server`)
    }
  }
  replaceFileSync(path, text)
  // What others may write would not be obeyed (trusted-file.ts).
  const { mode } = statSync(path)
  if ((mode & 0o022) !== 0) chmodSync(path, mode & 0o755)
}
