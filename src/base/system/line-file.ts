// A file to which several processes append whole lines, such as a trail for a SIEM. Lines are
// buffered up to a bound and written together; beyond it they are refused.
//
// Lines are never mixed, and accepted ones are written while this process lives and the disk
// allows. Rotation loses none: the file is reopened within a second.
//
// The one catch is a disk that takes half a line and fails, or a process killed halfway: the half
// stays as a line of its own, and the whole line follows. Every writer checks the file's last byte
// first, because the half may be another process's; two that see it at once leave an empty line.

import { type FileHandle, open, stat } from 'node:fs/promises'
import { constants, write } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { outputTarget } from './atomic-file.ts'

export type LineFile = ReturnType<typeof openLineFile>

const flushMs = 100
const flushBytes = 65_536
const identityMs = 1000
/** Pipes take this much atomically (PIPE_BUF), so that processes' lines stay whole. */
const pipeBytesMax = 4096

/** A write in progress can look like a half line. */
const settleMs = 10
const settlesMax = 10

interface Target {
  readonly write: (bytes: Uint8Array) => Promise<number>
  readonly bytesMax: number
  /** `undefined` if only the writer can know. */
  readonly endsMidLine: () => Promise<boolean | undefined>
  readonly close: () => Promise<void>
}

const writeTo = promisify(write) as unknown as (
  descriptor: number,
  bytes: Uint8Array,
) => Promise<{ readonly bytesWritten: number }>

export function openLineFile(options: {
  readonly path: string
  readonly waitingBytesMax: number
  /** Once until `onRecovery`. */
  readonly onTrouble: (error: unknown) => void
  readonly onRecovery: () => void
}) {
  const target = options.path === '-' ? standardOutput() : namedFile(options.path)
  let lines: string[] = []
  /** Whole lines that the disk has not taken; older than `lines`. */
  let rest: Buffer = Buffer.alloc(0)
  let lineBytes = 0
  let failing = false
  let ownHalf = false
  let writing: Promise<void> | undefined

  const writeAll = async (): Promise<void> => {
    if (lines.length > 0) {
      rest = Buffer.concat([rest, Buffer.from(`${lines.join('\n')}\n`)])
      lines = []
      lineBytes = 0
    }
    try {
      while (rest.length > 0) {
        if ((await target.endsMidLine()) ?? ownHalf) await target.write(Buffer.of(newline))
        const written = await writePiece(target, rest)
        rest = written.rest
        ownHalf = written.half
        if (written.fault !== undefined) throw written.fault
      }
      if (failing) options.onRecovery()
      failing = false
    } catch (fault) {
      // A full pipe is not an error: its reader is slow.
      const isFull = (fault as NodeJS.ErrnoException).code === 'EAGAIN'
      if (!failing && !isFull) options.onTrouble(fault)
      failing ||= !isFull
    }
  }
  const flush = (): Promise<void> => {
    writing ??= writeAll().finally(() => (writing = undefined))
    return writing
  }
  const timer = setInterval(() => void flush(), flushMs)
  timer.unref()
  return {
    flush,
    /** Without a line end. False if there is no room, and the line is lost. */
    append: (line: string): boolean => {
      const bytes = Buffer.byteLength(line) + 1
      if (rest.length + lineBytes + bytes > options.waitingBytesMax) return false
      lines.push(line)
      lineBytes += bytes
      if (lineBytes >= flushBytes) void flush()
      return true
    },
    /** Writes the rest once and closes; returns the number of lost lines. */
    close: async (): Promise<number> => {
      clearInterval(timer)
      // It may have begun before the last lines.
      await writing
      await flush()
      await target.close()
      return countLines(rest)
    },
  }
}

function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) count += 1
  return count
}

const newline = 0x0a

/** `rest` begins with a whole line; `half`: a part of it was written. */
async function writePiece({ write, bytesMax }: Target, bytes: Buffer) {
  const size = pieceSize(bytes, bytesMax)
  let written = 0
  let fault: unknown
  try {
    while (written < size) written += await write(bytes.subarray(written, size))
  } catch (error) {
    fault = error
  }
  const lineStart = written === 0 ? 0 : bytes.lastIndexOf(newline, written - 1) + 1
  return { rest: bytes.subarray(lineStart), half: lineStart < written, fault }
}

/** As many whole lines as fit, at least one. */
function pieceSize(bytes: Buffer, bytesMax: number): number {
  if (bytes.length <= bytesMax) return bytes.length
  const last = bytes.lastIndexOf(newline, bytesMax - 1)
  return (last < 0 ? bytes.indexOf(newline) : last) + 1
}

const standardOutput = (): Target => ({
  bytesMax: pipeBytesMax,
  endsMidLine: async () => undefined,
  write: async (bytes) => (await writeTo(1, bytes)).bytesWritten,
  close: async () => undefined,
})

const { O_APPEND, O_CREAT, O_NOCTTY, O_NONBLOCK, O_RDWR, O_WRONLY } = constants
/** Non-blocking, because opening a pipe would wait for its reader. */
const appendFlags = O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY

/** Reading from a pipe would make it seem to have a reader; a file may be write-only. */
async function openToAppend(path: string): Promise<{ handle: FileHandle; readable: boolean }> {
  const named = await stat(path).catch(() => undefined)
  if (named?.isFile() !== false) {
    const handle = await open(path, O_RDWR | appendFlags, 0o600).catch(() => undefined)
    if (handle !== undefined) return { handle, readable: true }
  }
  return { handle: await open(path, O_WRONLY | appendFlags, 0o600), readable: false }
}

async function endsInHalf(handle: FileHandle): Promise<boolean> {
  let sizeBefore = -1
  for (let looks = 0; looks < settlesMax; looks += 1) {
    const { size } = await handle.stat()
    if (size === 0) return false
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
    // It was emptied meanwhile, or is fine.
    if (bytesRead === 0 || buffer[0] === newline) return false
    if (size === sizeBefore) return true
    sizeBefore = size
    await sleep(settleMs)
  }
  return true
}

function namedFile(path: string): Target {
  let handle: FileHandle | undefined
  let readable = false
  let comparedMs = 0
  const current = async (): Promise<FileHandle> => {
    const nowMs = performance.now()
    if (handle !== undefined && nowMs - comparedMs >= identityMs) {
      comparedMs = nowMs
      const [named, own] = await Promise.all([stat(path).catch(() => undefined), handle.stat()])
      if (named?.ino !== own.ino || named.dev !== own.dev) {
        await handle.close()
        handle = undefined
      }
    }
    if (handle === undefined) ({ handle, readable } = await openToAppend(outputTarget(path)))
    return handle
  }
  return {
    bytesMax: 1 << 20,
    write: async (bytes) => (await (await current()).write(bytes)).bytesWritten,
    endsMidLine: async () => {
      const opened = await current()
      return readable ? endsInHalf(opened) : undefined
    },
    close: async () => handle?.close(),
  }
}
