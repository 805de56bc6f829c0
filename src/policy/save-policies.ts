// Writes a policies file for whoever has changed it in another place than an editor: whole, beside
// itself, and renamed, so that no reader sees half of it.
//
// Invariants: nothing is written but what `checkPolicies` has nothing against; nothing is written
// over a file that is not of the revision which was changed; a file that belongs to another user,
// or is a link to one, is left as it is, for what takes its place would be this user's.

import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { IpriskError, messageOf } from '../base/coded-error.ts'
import { policiesBytesMax } from '../base/limits.ts'
import { callerUserId } from '../base/system/trusted-file.ts'
import { checkPolicies, policiesInvalid, readPolicyFile } from './policy-file.ts'
import type { PolicyPlace } from './policy-place.ts'

export interface SavedPolicies {
  /** Of the file before. */
  readonly before: string | null
  readonly revision: string
}

/**
 * `revision` is that of the file which was changed, `null` where there was none; `content` is the
 * whole of the new one. Throws `policies_invalid`, `policies_changed` and `policies_unwritable`.
 */
export function savePolicies(
  place: PolicyPlace,
  revision: string | null,
  content: object,
): SavedPolicies {
  const text = `${JSON.stringify(content, null, 2)}\n`
  const checked = checkPolicies(text)
  if ('mistakes' in checked) throw policiesInvalid(place.path, checked.mistakes)
  if (Buffer.byteLength(text) > policiesBytesMax) {
    // It would be read by no start.
    throw policiesInvalid(place.path, [`a file of policies has at most ${policiesBytesMax} bytes`])
  }
  const before = revisionAt(place)
  if (before !== revision) {
    throw new IpriskError({
      code: 'policies_changed',
      message:
        `The policies in ${place.path} were changed meanwhile: they are of revision ` +
        `${before ?? 'none'}, not ${revision ?? 'none'}. Load them anew, then change them again.`,
      fault: 'input',
    })
  }
  try {
    replaceFile(place.path, text)
  } catch (cause) {
    throw unwritable(place, messageOf(cause), cause)
  }
  return { before, revision: checked.policies.revision }
}

/** `null` where there is none; of a file with mistakes a text that no revision is. */
function revisionAt(place: PolicyPlace): string | null {
  if (lstatSync(place.path, { throwIfNoEntry: false }) === undefined) return null
  try {
    return readPolicyFile(place)?.policies.revision ?? null
  } catch {
    return 'unknown, for the file has mistakes'
  }
}

function replaceFile(path: string, text: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat?.isFile() === false) throw new Error('it is no regular file')
  if (stat !== undefined && stat.uid !== callerUserId()) {
    throw new Error(`it belongs to user ${stat.uid}, not to the user who runs this server`)
  }
  const unfinished = `${path}.part`
  rmSync(unfinished, { force: true })
  const file = openSync(unfinished, 'wx', 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  // What others may write would not be obeyed (trusted-file.ts).
  chmodSync(unfinished, (stat?.mode ?? 0o644) & 0o755)
  renameSync(unfinished, path)
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function unwritable({ path }: PolicyPlace, why: string, cause: unknown): IpriskError {
  return new IpriskError({
    code: 'policies_unwritable',
    message: `The policies in ${path} cannot be written: ${why}. Change them by the way that they came.`,
    fault: 'environment',
    cause,
  })
}
