// Atomic file writes, for files that users name and state that must survive a power cut: a
// temporary file in the same folder, flushed, renamed, folder flushed.
//
// Invariants: only a regular file is replaced, because renaming over a device or pipe removes it;
// this is checked before writing and before the rename. A symbolic link stays; its target is
// replaced or created. Mode 0600 is kept; otherwise the replaced file's mode and, as root, owner
// are. Errors about a path are only a reason ("it is a folder").

import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { open, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { IpriskError } from '../coded-error.ts'
import type { ErrorCode } from '../error-codes.ts'

const linksMax = 40
const privateMode = 0o600

/** Contains the process id, to recognise a killed run's files. */
export const temporaryName = (name: string): string => `.${name}.${process.pid}.${randomUUID()}.tmp`

/** Follows symbolic links. Throws a reason. */
export function outputTarget(path: string): string {
  const fault = outputFault(path)
  if (fault !== undefined) throw new Error(`it ${fault}`)
  if (!isLink(path)) return path
  if (fs.statSync(path, { throwIfNoEntry: false }) !== undefined) {
    // Native: the JavaScript version drops ".." after a link to a folder.
    return fs.realpathSync.native(path)
  }
  let target = path
  for (let links = 0; isLink(target) && links < linksMax; links += 1) {
    const to = fs.readlinkSync(target)
    // Not joined: ".." after a link to a folder is that folder's parent.
    target = isAbsolute(to) ? to : `${dirname(target)}/${to}`
  }
  return join(fs.realpathSync.native(dirname(target)), basename(target))
}

const isLink = (path: string): boolean =>
  fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

/** As a clause; `undefined` for a usable path. */
export function outputFault(path: string): string | undefined {
  try {
    // From Node 22, `throwIfNoEntry: false` would hide ENOTDIR too.
    return irregularFault(fs.statSync(path))
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (code === 'ENOTDIR') return 'lies below a file'
    if (code === 'ELOOP') return 'is a symbolic link that leads back to itself'
    throw cause
  }
}

function irregularFault(stat: fs.Stats): string | undefined {
  if (stat.isFile()) return undefined
  if (stat.isDirectory()) return 'is a folder'
  const what = stat.isFIFO() ? 'pipe' : stat.isSocket() ? 'socket' : 'device'
  return `is a ${what}, not a regular file`
}

/** Call before a command's work. `name` is its option. */
export function checkOutput(name: string, path: string, code: ErrorCode): void {
  const fault = path === '-' ? 'is standard output (./- is a file of that name)' : faultOf(path)
  if (fault === undefined && path !== '') return
  const message = `${name} must name a file, but ${path === '' ? 'is empty' : `${path} ${fault}`}.`
  throw new IpriskError({ code, message, fault: 'usage' })
}

/** Ignores errors that writing will report. */
function faultOf(path: string): string | undefined {
  try {
    const fault = outputFault(path)
    if (fault === undefined && isLink(path)) outputTarget(path)
    return fault
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    return code === 'ENOENT' ? 'is a symbolic link into a folder that is not there' : undefined
  }
}

export type Replacement = ReturnType<typeof beginReplacing>

/**
 * The writer creates `temporary`, commits, and always discards at the end. `mode` applies to a new
 * file and to secrets.
 */
export function beginReplacing(path: string, mode: number) {
  const target = outputTarget(path)
  const folder = dirname(target)
  const temporary = join(folder, temporaryName(basename(target)))
  const inherit = (descriptor: number): void => {
    if (outputTarget(path) !== target) throw new Error('it was replaced while it was written')
    const replaced = fs.statSync(target, { throwIfNoEntry: false })
    inheritFrom(descriptor, replaced, mode)
  }
  return {
    temporary,
    commit: async (): Promise<void> => {
      const handle = await open(temporary, 'r+')
      try {
        inherit(handle.fd)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(temporary, target)
      await flushFolder(folder)
    },
    commitSync: (): void => {
      const descriptor = fs.openSync(temporary, 'r+')
      try {
        inherit(descriptor)
        fs.fsyncSync(descriptor)
      } finally {
        fs.closeSync(descriptor)
      }
      fs.renameSync(temporary, target)
      flushFolderSync(folder)
    },
    discard: (): void => fs.rmSync(temporary, { force: true }),
  }
}

function inheritFrom(descriptor: number, replaced: fs.Stats | undefined, mode: number): void {
  const made = fs.fstatSync(descriptor)
  const isPrivate = mode === privateMode
  if (!isPrivate && replaced !== undefined && process.geteuid?.() === 0) {
    const { uid, gid } = replaced
    if (uid !== made.uid || gid !== made.gid) giveTo(descriptor, { uid, gid })
  }
  const wanted = isPrivate ? mode : (replaced?.mode ?? made.mode) & 0o777
  if ((made.mode & 0o777) !== wanted) fs.fchmodSync(descriptor, wanted)
}

/** Root lacks the permission in some containers. */
function giveTo(descriptor: number, { uid, gid }: { uid: number; gid: number }): void {
  try {
    fs.fchownSync(descriptor, uid, gid)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EPERM') throw cause
  }
}

/** Atomic; `write` gets a temporary path. */
export async function replaceWith(
  path: string,
  mode: number,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  const file = beginReplacing(path, mode)
  try {
    await write(file.temporary)
    await file.commit()
  } finally {
    file.discard()
  }
}

/** Atomic; yields to the event loop between pieces. */
export const replaceFile = (path: string, content: string | Iterable<string>, mode = 0o644) =>
  replaceWith(path, mode, (to) => writeFile(to, content, { flag: 'wx', mode }))

export function replaceFileSync(path: string, content: string | Uint8Array, mode = 0o644): void {
  const file = beginReplacing(path, mode)
  try {
    fs.writeFileSync(file.temporary, content, { flag: 'wx', mode })
    file.commitSync()
  } finally {
    file.discard()
  }
}

/** Makes renames within `folder` durable. */
export async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export function flushFolderSync(folder: string): void {
  const descriptor = fs.openSync(folder, 'r')
  try {
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Empty if the folder cannot be read. */
export function namesIn(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder)
  } catch {
    return []
  }
}

export async function removeTemporaryFiles(folder: string): Promise<void> {
  const left = namesIn(folder).filter((name) => name.startsWith('.') && name.endsWith('.tmp'))
  await Promise.all(left.map(async (name) => rm(join(folder, name), { force: true })))
}
