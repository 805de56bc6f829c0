// A file that decides what a command does, such as ./iprisk.json. One that the caller named is
// obeyed. One that is only found in the working directory is obeyed if nobody but the caller and
// root can have written it: in a shared folder, another user's file would decide where root writes.
//
// Invariants: owner and mode are those of the file that was opened and read; of a symbolic link the
// link's own owner counts too, and a link that changes meanwhile is refused. The folder is not
// judged: who may write it can only remove the file, or put an own one there, which is refused.
// Without user ids (Windows) everything is obeyed.
//
// Default places of data, such as ./data/state, are written to, so each folder on the way there is
// judged, from the working directory on (`distrustOfFound`).

import { type Stats, lstatSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { type BoundedFile, readBoundedFile } from './bounded-file.ts'

export interface TrustedFile extends BoundedFile {
  /** Of a named file: why it would not be obeyed otherwise. */
  readonly distrust?: string
}

/** As the system checks permissions; `undefined` without user ids. */
export function callerUserId(): number | undefined {
  return process.geteuid?.()
}

/** As a clause; `undefined` where it is obeyed. */
export function distrustOf(
  { uid, mode }: { readonly uid: number; readonly mode: number },
  caller = callerUserId(),
): string | undefined {
  if (caller === undefined) return undefined
  const stranger = ownerDistrust('it', uid, caller)
  if (stranger !== undefined) return stranger
  return (mode & 0o022) === 0 ? undefined : 'users other than its owner may write it'
}

function ownerDistrust(what: string, uid: number, caller: number): string | undefined {
  if (uid === 0 || uid === caller) return undefined
  const whom = caller === 0 ? 'root, who runs this' : `root or to user ${caller}, who runs this`
  return `${what} belongs to user ${uid}, not to ${whom}`
}

/**
 * Why what is found at `path`, below `folder`, is not to be used, as a clause that names the file
 * or folder at fault. Where nothing is there yet, `folder` counts only if the caller `creates` it.
 */
export function distrustOfFound(
  path: string,
  { folder, creates }: { readonly folder: string; readonly creates: boolean },
): string | undefined {
  const caller = callerUserId()
  if (caller === undefined) return undefined
  const places = [folder]
  for (const name of relative(folder, path).split(sep)) places.push(join(places.at(-1)!, name))
  if (!creates && statOf(places[1]!, lstatSync) === undefined) return undefined
  for (const place of places) {
    const link = statOf(place, lstatSync)
    if (link === undefined) return undefined
    // A link's owner chose where it leads.
    const stat = statOf(place, statSync) ?? link
    const distrust =
      ownerDistrust(place, link.uid, caller) ?? ownerDistrust(place, stat.uid, caller)
    if (distrust !== undefined) return distrust
    // A sticky folder, such as /tmp: others may not remove or rename what is here.
    const isSticky = place === folder && (stat.mode & 0o1000) !== 0
    if (!isSticky && isWritableByOthers(stat))
      return `users other than its owner may write ${place}`
  }
  return undefined
}

/** `undefined` also on a refusal: using the path will say why. */
function statOf(path: string, read: typeof lstatSync): Stats | undefined {
  try {
    return read(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** A user's private group is as good as the user: many systems make new folders writable for it. */
function isWritableByOthers(stat: Stats): boolean {
  if (stat.isSymbolicLink()) return false
  const isOwnGroup =
    stat.gid === 0 || (stat.gid === process.getegid?.() && stat.gid === process.geteuid?.())
  return (stat.mode & (isOwnGroup ? 0o002 : 0o022)) !== 0
}

/**
 * Throws a reason, also for a file that was not `named` and is not to be obeyed; `flag` names such
 * a file.
 */
export function readTrustedFile(
  path: string,
  options: { readonly bytesMax: number; readonly named: boolean; readonly flag: string },
): TrustedFile {
  const { bytesMax, named, flag } = options
  const before = linkAt(path)
  const file = readBoundedFile(path, { bytesMax })
  const distrust = distrustOfLink(before, linkAt(path)) ?? distrustOf(file.stat)
  if (distrust === undefined) return file
  if (named) return { ...file, distrust }
  throw new Error(
    `${distrust}, so it is not obeyed unless you name it; if you trust what it says, give ` +
      `${flag} ${path}, or make it yours alone (chown, chmod go-w); else remove it or run this ` +
      'in another folder',
  )
}

function linkAt(path: string) {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stat?.isSymbolicLink() === true ? stat : undefined
}

/** No link can be written, only replaced. */
function distrustOfLink(before: ReturnType<typeof linkAt>, after: ReturnType<typeof linkAt>) {
  if (before?.ino !== after?.ino || before?.ctimeNs !== after?.ctimeNs) {
    return 'it was replaced while it was read'
  }
  return before === undefined ? undefined : distrustOf({ uid: Number(before.uid), mode: 0 })
}
