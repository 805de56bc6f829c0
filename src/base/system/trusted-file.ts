// A file that decides what a command does, such as ./iprisk.json. A file that the caller named is
// used. One found in the working directory is used only if no one but the caller and root can have
// written it: otherwise another user's file in a shared folder would direct root's writes.
//
// Owner and mode are those of the opened file; a symbolic link's own owner counts too, and a link
// that changes meanwhile is refused. The folder does not count: its writers can only remove the
// file or add their own, which is refused. Without user ids (Windows) every file is used. Default
// data folders, such as ./data/state, are written, so each folder below the working directory is
// checked (`distrustOfFound`).

import { type Stats, lstatSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { type BoundedFile, readBoundedFile } from './bounded-file.ts'

export interface TrustedFile extends BoundedFile {
  /** Why a named file would otherwise be refused. */
  readonly distrust?: string
}

/** The effective user; `undefined` without user ids. */
export const callerUserId = (): number | undefined => process.geteuid?.()

/** As a clause; `undefined` for a trusted file. */
export function distrustOf(
  { uid, mode }: { readonly uid: number; readonly mode: number },
  caller = callerUserId(),
): string | undefined {
  if (caller === undefined) return undefined
  const stranger = ownerDistrust('it', uid, caller)
  if (stranger !== undefined) return stranger
  return (mode & 0o022) === 0 ? undefined : 'users other than its owner can write to it'
}

function ownerDistrust(what: string, uid: number, caller: number): string | undefined {
  if (uid === 0 || uid === caller) return undefined
  const whom = caller === 0 ? 'root, who runs this' : `root or to user ${caller}, who runs this`
  return `${what} belongs to user ${uid}, not to ${whom}`
}

/**
 * Why a path below `folder` is not trusted, as a clause that names the culprit. If nothing exists
 * yet, `folder` counts only if the caller `creates` it.
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
    // A link's owner chose its target.
    const stat = statOf(place, statSync) ?? link
    const distrust =
      ownerDistrust(place, link.uid, caller) ?? ownerDistrust(place, stat.uid, caller)
    if (distrust !== undefined) return distrust
    // In a sticky folder, such as /tmp, others cannot remove or rename these files.
    const isSticky = place === folder && (stat.mode & 0o1000) !== 0
    if (!isSticky && isWritableByOthers(stat))
      return `users other than its owner can write to ${place}`
  }
  return undefined
}

/** `undefined` also on errors, which using the path will report. */
function statOf(path: string, read: typeof lstatSync): Stats | undefined {
  try {
    return read(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** A user's private group counts as the user: many systems make new folders group-writable. */
function isWritableByOthers(stat: Stats): boolean {
  if (stat.isSymbolicLink()) return false
  const isOwnGroup =
    stat.gid === 0 || (stat.gid === process.getegid?.() && stat.gid === process.geteuid?.())
  return (stat.mode & (isOwnGroup ? 0o002 : 0o022)) !== 0
}

/** Throws a reason, also for an untrusted file that was not `named`; `flag` names such a file. */
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
    `${distrust}, so it is used only if you name it; if you trust it, pass ${flag} ${path}, or ` +
      'make it yours alone (chown, chmod go-w); otherwise remove it or run this in another folder',
  )
}

function linkAt(path: string) {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stat?.isSymbolicLink() === true ? stat : undefined
}

/** A link cannot be written, only replaced. */
function distrustOfLink(before: ReturnType<typeof linkAt>, after: ReturnType<typeof linkAt>) {
  if (before?.ino !== after?.ino || before?.ctimeNs !== after?.ctimeNs) {
    return 'it was replaced while it was read'
  }
  return before === undefined ? undefined : distrustOf({ uid: Number(before.uid), mode: 0 })
}
