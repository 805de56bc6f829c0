// A private copy of a file for mapping, safe from truncation or overwriting of the file. All
// processes of a user share one copy, which is removed once unused.
//
//   <folder>/<name>          the copy, mode 0400; `name` identifies the state of the file
//   <folder>/<name>.part     an unfinished copy
//   <folder>/<name>.making   locked by the process that makes the copy; others wait
//
// `<folder>` is the first usable one of:
//
//   $XDG_CACHE_HOME/iprisk/tables, or ~/.cache/iprisk/tables without that variable
//   <temporary folder>/iprisk-<user id>/tables
//
// Users hold a shared flock, which the kernel releases when they end. Opening and releasing sweep
// the folder: a copy that can be locked exclusively is unused and removed.
//
// Invariants:
// - A copy gets its name when it is complete, verified and locked.
// - A lock counts only while the name still refers to the locked file; else it was swept.
// - A copy is used only if it is this user's, has one link, is read-only and has the right length.
// - A copy from before the last boot is not used: copies are not flushed.
// - Only this user may write to the folder, so no other user can plant a copy. It is not in memory,
// which sharing pages saves, nor on a network, where locks differ and mapped pages can be lost.

import * as fs from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { IpriskError, messageOf, environmentError } from '../../coded-error.ts'
import { namesIn } from '../atomic-file.ts'
import { bootId } from '../clock.ts'
import { copyLargeFileInSteps } from '../copy-large-file.ts'
import { acquireFileLock, hasName, lockDescriptor } from '../file-lock.ts'
import { withRegularFile } from '../memory-map.ts'
import { callerUserId } from '../trusted-file.ts'

/** 190 MB at 20 MB a second. */
const waitMsMax = 10_000
const waitStepMs = 10

/** A source that changes in each attempt is being overwritten in place. */
const copiesMax = 3

/** No copy can be made, but the file may be valid. */
export const uncopied = 'file_uncopied'

export type CopySteps<T> = Generator<number, T, undefined>

export interface SharedCopy {
  readonly path: string
  /** Milliseconds since the epoch. */
  readonly sourceMs: number
  /** Existing maps stay valid. Idempotent. */
  readonly release: () => void
}

/** Throws `file_unreadable`, `uncopied`, and the errors of `verify`. */
export function* shareCopy(
  source: string,
  verify: (copy: string) => CopySteps<void>,
): CopySteps<SharedCopy> {
  const reasons: string[] = []
  for (const folder of copyFolders()) {
    try {
      makeCopyFolder(folder)
      return yield* shareCopyIn(folder, source, verify)
    } catch (cause) {
      // A fault of the source affects every folder.
      if (cause instanceof IpriskError && cause.code !== 'file_unlockable') throw cause
      reasons.push(messageOf(cause))
    }
  }
  throw environmentError(uncopied, reasons.join('; '))
}

function* shareCopyIn(folder: string, source: string, verify: (copy: string) => CopySteps<void>) {
  const untilMs = performance.now() + waitMsMax
  for (let changes = 0; changes < copiesMax;) {
    const file = namedHere({ ...identify(source), folder })
    let copy: SharedCopy | 'absent' | 'busy' | 'changed' = holdCopy(file)
    const making = copy === 'absent' ? acquireFileLock(`${pathOf(file)}.making`) : undefined
    if (making !== undefined) {
      makingHere.add(file.name)
      try {
        // Another process may have made it meanwhile.
        copy = holdCopy(file)
        if (copy === 'absent') copy = yield* makeCopy(source, file, verify)
      } finally {
        makingHere.delete(file.name)
        making.release()
      }
    }
    if (typeof copy === 'object') {
      sweep(folder)
      return copy
    }
    if (copy === 'changed') changes += 1
    else if (performance.now() > untilMs) {
      throw new Error(`another process has been busy with ${pathOf(file)} for ${waitMsMax} ms`)
    } else yield waitStepMs
  }
  throw environmentError(
    'file_unreadable',
    `${source} keeps changing while it is copied. Write new files beside it and rename them into place.`,
    { retryable: true },
  )
}

interface CopiedFile {
  readonly folder: string
  readonly identity: string
  readonly name: string
  readonly bytes: number
  readonly sourceMs: number
}

const pathOf = ({ folder, name }: CopiedFile): string => join(folder, name)

/** Includes `ctime`, because a program that overwrites a file may reset its `mtime`. */
function identify(source: string): Omit<CopiedFile, 'folder'> {
  return withRegularFile(source, { mode: 'r' }, (descriptor, bytes) => {
    const { dev, ino, mtimeNs, ctimeNs, mtimeMs } = fs.fstatSync(descriptor, { bigint: true })
    const identity = [bootId().slice(0, 8), dev, ino, bytes, mtimeNs, ctimeNs].join('-')
    return { identity, name: `${identity}.copy`, bytes, sourceMs: Number(mtimeMs) }
  })
}

const makingHere = new Set<string>()

/** A second copy, because waiting for this thread's own steps would never end. */
const namedHere = (file: CopiedFile): CopiedFile =>
  makingHere.has(file.name) ? namedHere({ ...file, name: `again-${file.name}` }) : file

/** Runs under the `.making` lock. */
function* makeCopy(source: string, file: CopiedFile, verify: (copy: string) => CopySteps<void>) {
  const part = `${pathOf(file)}.part`
  fs.rmSync(part, { force: true })
  checkRoom(file.folder, file.bytes)
  try {
    for (const _ of copyLargeFileInSteps(source, part, file.bytes)) yield 0
    if (identify(source).identity !== file.identity) return 'changed'
    fs.chmodSync(part, 0o400)
    yield* verify(part)
    const copy = holdCopy(file, part)
    if (typeof copy !== 'object') return copy
    try {
      fs.renameSync(part, pathOf(file))
      return copy
    } catch (cause) {
      copy.release()
      throw cause
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).syscall !== 'read') throw cause
    throw environmentError('file_unreadable', messageOf(cause), { cause })
  } finally {
    fs.rmSync(part, { force: true })
  }
}

function holdCopy(file: CopiedFile, path = pathOf(file)): SharedCopy | 'absent' | 'busy' {
  let descriptor: number
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants
    descriptor = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ELOOP') return 'absent'
    throw cause
  }
  let state: 'held' | 'absent' | 'busy' = 'busy'
  try {
    const isLocked = lockDescriptor(descriptor, { path, how: 'shared' })
    if (isLocked && hasName(descriptor, path)) {
      state = isSound(descriptor, file.bytes) ? 'held' : 'absent'
    }
  } finally {
    if (state !== 'held') fs.closeSync(descriptor)
  }
  if (state !== 'held') return state
  return {
    path: process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : pathOf(file),
    sourceMs: file.sourceMs,
    release: keep(descriptor, file.folder),
  }
}

function isSound(descriptor: number, bytes: number): boolean {
  const { uid, mode, nlink, size } = fs.fstatSync(descriptor)
  const user = callerUserId() ?? uid
  return uid === user && mode === (fs.constants.S_IFREG | 0o400) && nlink === 1 && size === bytes
}

const kept = new Set<() => void>()

function keep(descriptor: number, folder: string): () => void {
  const release = (): void => {
    if (!kept.delete(release)) return
    if (kept.size === 0) process.removeListener('exit', releaseAll)
    fs.closeSync(descriptor)
    sweep(folder)
  }
  if (kept.size === 0) process.once('exit', releaseAll)
  kept.add(release)
  return release
}

function releaseAll(): void {
  for (const release of kept) release()
}

/** Failures are left to the next sweep. */
function sweep(folder: string): void {
  for (const name of namesIn(folder)) {
    try {
      const path = join(folder, name)
      if (name.endsWith('.copy')) removeUnused(path)
      if (name.endsWith('.making')) acquireFileLock(path)?.release()
      if (name.endsWith('.part')) removeAbandoned(path)
    } catch {
      // Another process may just have removed it.
    }
  }
}

function removeUnused(path: string): void {
  const descriptor = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW)
  try {
    const isUnused = lockDescriptor(descriptor, { path, how: 'exclusive' })
    if (isUnused && hasName(descriptor, path)) fs.rmSync(path)
  } finally {
    fs.closeSync(descriptor)
  }
}

function removeAbandoned(part: string): void {
  const making = acquireFileLock(part.replace(/part$/, 'making'))
  if (making === undefined) return
  fs.rmSync(part, { force: true })
  making.release()
}

const unfitFileSystems: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'in memory (tmpfs)'],
  [0x858458f6, 'in memory (ramfs)'],
  [0x6969, 'on a network (NFS)'],
  [0xff534d42, 'on a network (CIFS)'],
  [0xfe534d42, 'on a network (SMB)'],
])

function copyFolders(): readonly string[] {
  const cache = cacheFolder()
  // Under sudo, the home may be another user's, who could not use root's files there.
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
    // A container's user may have no home.
    return undefined
  }
}

/** The owner of the folder, or of its nearest visible parent. */
function ownerOf(folder: string): number | undefined {
  try {
    return fs.statSync(folder).uid
  } catch {
    // Missing, hidden from this user, or below a file.
    return dirname(folder) === folder ? undefined : ownerOf(dirname(folder))
  }
}

/** Throws why it is unusable. */
function makeCopyFolder(folder: string): void {
  makeFolder(folder)
  const user = callerUserId()
  // The parent too: in a temporary folder another user may have created it.
  for (const place of [dirname(folder), folder]) {
    const stat = fs.lstatSync(place)
    const isOwn = user === undefined || stat.uid === user
    if (!stat.isDirectory() || !isOwn || (stat.mode & 0o022) !== 0) {
      throw new Error(`${place} is not a folder writable only by user ${user ?? ''}`)
    }
  }
  const unfit = unfitFileSystems.get(fs.statfsSync(folder).type)
  if (unfit !== undefined) throw new Error(`${folder} is ${unfit}`)
}

/** Like `recursive`, which never ends below /proc. */
function makeFolder(folder: string): void {
  if (isThere(folder)) return
  makeFolder(dirname(folder))
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (cause) {
    // Another process may just have made it.
    if (!isThere(folder)) throw cause
  }
}

const isThere = (path: string): boolean =>
  fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined

function checkRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = fs.statfsSync(folder)
  const free = bavail * bsize
  if (free < bytes) throw new Error(`${folder} has ${free} bytes free, not ${bytes}`)
}
