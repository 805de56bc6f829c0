// The program's own files and folders, such as the state folder's: for its user only, whatever the
// umask, never through a symbolic link, which could redirect root's writes. Throws a reason ("it is
// a symbolic link…") or the system's error. Files named by users: atomic-file.ts.

import * as fs from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { replaceFile, replaceFileSync } from './atomic-file.ts'

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = fs.constants
const flags = O_RDWR | O_CREAT | O_NOFOLLOW
const mode = 0o600

export function openOwnFile(path: string, { append = false } = {}): number {
  try {
    return fs.openSync(path, append ? flags | O_APPEND : flags, mode)
  } catch (cause) {
    throw reasonOf(cause)
  }
}

export async function openOwnHandle(path: string, { append = false } = {}): Promise<FileHandle> {
  return open(path, append ? flags | O_APPEND : flags, mode).catch((cause: unknown) => {
    throw reasonOf(cause)
  })
}

export async function replaceOwnFile(path: string, content: string | Iterable<string>) {
  refuseLink(path)
  await replaceFile(path, content, mode)
}

export function replaceOwnFileSync(path: string, content: string): void {
  refuseLink(path)
  replaceFileSync(path, content, mode)
}

/**
 * Creates `path` with `bytes` zeros after `head`, for processes to map and write (memory-map.ts).
 * All its blocks exist, because writing to a hole of a mapped file on a full disk ends the process.
 * On error nothing is left.
 */
export function createZeroFile(path: string, bytes: number, { head = new Uint8Array(0) } = {}) {
  const content = Buffer.alloc(bytes)
  content.set(head)
  const descriptor = fs.openSync(path, 'wx', mode)
  try {
    fs.writeFileSync(descriptor, content)
  } catch (error) {
    fs.rmSync(path, { force: true })
    throw error
  } finally {
    fs.closeSync(descriptor)
  }
}

export function makeOwnFolder(path: string): void {
  fs.mkdirSync(path, { recursive: true, mode: 0o700 })
  refuseLink(path)
}

/** For files that a library opens. */
export function refuseLink(path: string): void {
  if (fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw linkError(path)
}

function reasonOf(cause: unknown): unknown {
  const { code, path = '' } = cause as NodeJS.ErrnoException
  return code === 'ELOOP' ? linkError(path) : cause
}

function linkError(path: string): Error {
  return new Error(
    `${path} is a symbolic link, which is not followed: put the file or folder there, or bind-mount it`,
  )
}
