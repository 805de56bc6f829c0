// Where a user's private copies of files lie (shared-copy.ts): a folder that only this user can
// write, on a disk. The first of these that will do:
//
//   $XDG_CACHE_HOME/iprisk/tables, or ~/.cache/iprisk/tables without that variable
//   <temporary folder>/iprisk-<user id>/tables
//
// Invariants: a folder belongs to this user, and no other user may write it, so no other user can
// plant a copy. A file system in memory will not do: a copy there would take the memory that sharing
// pages saves. Nor will one on a network: its locks differ, and pages of a map can be lost with it.

import { lstatSync, mkdirSync, statSync, statfsSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { callerUserId } from '../trusted-file.ts'

/** What will not do, by the numbers of statfs(2), Linux. */
const unfitFileSystems: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'in memory (tmpfs)'],
  [0x858458f6, 'in memory (ramfs)'],
  [0x6969, 'on a network (NFS)'],
  [0xff534d42, 'on a network (CIFS)'],
  [0xfe534d42, 'on a network (SMB)'],
])

/** In the order in which to try them; none of them has been looked at. */
export function copyFolders(): readonly string[] {
  const cache = cacheFolder()
  // Under sudo the home may be another user's, who could not use what root makes there.
  const own =
    cache !== undefined && ownerOf(cache) === callerUserId() ? [join(cache, 'iprisk')] : []
  const folders = [...own, join(tmpdir(), `iprisk-${callerUserId() ?? 'user'}`)]
  return folders.map((folder) => join(folder, 'tables'))
}

function cacheFolder(): string | undefined {
  const named = process.env['XDG_CACHE_HOME']
  if (named !== undefined && isAbsolute(named)) return named
  try {
    return join(homedir(), '.cache')
  } catch {
    // A container's user that no file knows has none.
    return undefined
  }
}

/** Of the folder, or of the nearest one above it that exists. */
function ownerOf(folder: string): number | undefined {
  const stat = statSync(folder, { throwIfNoEntry: false })
  return stat === undefined && dirname(folder) !== folder ? ownerOf(dirname(folder)) : stat?.uid
}

/** Makes the folder if it is missing. Throws the reason, also what the disk says. */
export function makeCopyFolder(folder: string): void {
  makeFolder(folder)
  const user = callerUserId()
  // The folder above it, too: in a temporary folder another user could have made it.
  for (const place of [dirname(folder), folder]) {
    const stat = lstatSync(place)
    const isOwn = user === undefined || stat.uid === user
    if (!stat.isDirectory() || !isOwn || (stat.mode & 0o022) !== 0) {
      throw new Error(`${place} is not a folder that only user ${user ?? ''} may write`)
    }
  }
  const unfit = unfitFileSystems.get(statfsSync(folder).type)
  if (unfit !== undefined) throw new Error(`${folder} is ${unfit}`)
}

/** Makes parent folders, too. Node's `recursive` never ends below /proc. */
function makeFolder(folder: string): void {
  if (isThere(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (cause) {
    // Another process may have made it just now.
    if (!isThere(folder)) throw cause
  }
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** Throws where the disk of `folder` has not that many bytes free for this user. */
export function checkRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (free < bytes) throw new Error(`${folder} has ${free} bytes free, not ${bytes}`)
}
