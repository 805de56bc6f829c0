// Reads a whole file that a user named (configuration, keys, tokens, certificates). Whatever is at
// the path, it neither waits forever nor fills the memory: only a regular file is read, or a pipe
// if allowed, at most `bytesMax` bytes. It judges the opened file, not the path. Throws an Error
// with only a reason ("it is a folder").

import { type Stats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { messageOf } from '../coded-error.ts'

export interface BoundedFile {
  readonly bytes: Buffer
  readonly stat: Stats
}

export interface FileBounds {
  readonly bytesMax: number
  /** Pipes are read only with this. */
  readonly pipeMsMax?: number
}

/** A secret may come from a program: `<(pass show …)`. */
export const secretFile: FileBounds = { bytesMax: 65_536, pipeMsMax: 1000 }

/** A pipe without a writer looks ended; a slow writer gets this time. */
const pipeWriterMsMax = 1000
const pipePollMs = 5
const chunkBytes = 65_536

const openFailures: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it, or a folder above it',
  ENXIO: 'it is a socket or a device, and must be a regular file',
}

export function readBoundedFile(path: string, bounds: FileBounds): BoundedFile {
  const descriptor = openWithoutWaiting(path)
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile() && !(stat.isFIFO() && bounds.pipeMsMax !== undefined)) throw irregular(stat)
    return { bytes: readDescriptor(descriptor, bounds), stat }
  } finally {
    closeSync(descriptor)
  }
}

/** The caller closes the descriptor. */
export function openRegularFile(path: string): number {
  const descriptor = openWithoutWaiting(path)
  const stat = fstatSync(descriptor)
  if (stat.isFile()) return descriptor
  closeSync(descriptor)
  throw irregular(stat)
}

/** For open descriptors, such as standard input. */
export function readDescriptor(descriptor: number, { bytesMax, pipeMsMax = 0 }: FileBounds) {
  const stat = fstatSync(descriptor)
  const isPipe = stat.isFIFO()
  const chunks: Buffer[] = []
  let bytes = 0
  const begun = performance.now()
  const isOver = (ms: number): boolean => performance.now() - begun >= ms
  for (;;) {
    // One more byte, to notice a file that has grown.
    const chunk = Buffer.allocUnsafe(bytes === 0 ? firstBytes(stat, bytesMax) : chunkBytes)
    const read = readSome(descriptor, chunk)
    if (read === 'none yet' && isOver(pipeMsMax)) {
      throw new Error(`it is a pipe whose writer did not finish within ${pipeMsMax} ms`)
    }
    if (read === 'none yet' || (read === 0 && bytes === 0 && isPipe && !isOver(pipeWriterMsMax))) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pipePollMs)
      continue
    }
    if (read === 0) {
      const [only] = chunks
      return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes)
    }
    bytes += read
    if (bytes > bytesMax) throw tooLarge(bytesMax)
    chunks.push(chunk.subarray(0, read))
  }
}

/** A pipe without a writer, or a terminal, would block a plain open. */
function openWithoutWaiting(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    throw new Error(openFailures[code] ?? messageOf(cause), { cause })
  }
}

function irregular(stat: Stats): Error {
  if (stat.isDirectory()) return new Error('it is a folder')
  return new Error(`it is a ${stat.isFIFO() ? 'pipe' : 'device'}, and must be a regular file`)
}

const tooLarge = (bytesMax: number): Error => new Error(`it has more than ${bytesMax} bytes`)

/** Files in /proc have a size of 0. */
function firstBytes({ size }: Stats, bytesMax: number): number {
  if (size > bytesMax) throw tooLarge(bytesMax)
  return Math.max(chunkBytes, size + 1)
}

/** `none yet`: the pipe has a writer. */
function readSome(descriptor: number, chunk: Buffer): number | 'none yet' {
  try {
    return readSync(descriptor, chunk)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EAGAIN') return 'none yet'
    throw thrown
  }
}
