// The folder of a user's private file copies (shared-copy.ts), on a disk and writable only by this
// user. The first usable one of:
//
//   $XDG_CACHE_HOME/iprisk/tables, or ~/.cache/iprisk/tables without that variable
//   <temporary folder>/iprisk-<user id>/tables
//
// Invariants: only the folder's owner, this user, may write to it, so no other user can plant a
// copy. Not in memory: a copy there would use the memory that sharing pages saves. Not on a network:
// locks differ there, and mapped pages can be lost.

import { lstatSync, mkdirSync, statSync, statfsSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { callerUserId } from '../trusted-file.ts'

/** By the types of statfs(2), Linux. */
const unfitFileSystems: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'in memory (tmpfs)'],
  [0x858458f6, 'in memory (ramfs)'],
  [0x6969, 'on a network (NFS)'],
  [0xff534d42, 'on a network (CIFS)'],
  [0xfe534d42, 'on a network (SMB)'],
])

/** In the order to try them; they may not exist. */
export function copyFolders(): readonly string[] {
  const cache = cacheFolder()
  // Under sudo the home may be another user's, who could not use what root creates there.
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
    // In a container the user may have no home.
    return undefined
  }
}

/** The owner of the folder, or of its nearest parent that this user can see. */
function ownerOf(folder: string): number | undefined {
  try {
    return statSync(folder).uid
  } catch {
    // Not there, in a home that is shut to this user, or below a file, as where the home is /dev/null.
    return dirname(folder) === folder ? undefined : ownerOf(dirname(folder))
  }
}

/** Creates the folder if it is missing. Throws why it is unusable. */
export function makeCopyFolder(folder: string): void {
  makeFolder(folder)
  const user = callerUserId()
  // Its parent, too: in a temporary folder another user could have created it.
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

export function checkRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (free < bytes) throw new Error(`${folder} has ${free} bytes free, not ${bytes}`)
}
