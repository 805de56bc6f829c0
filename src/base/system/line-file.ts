// A file that several processes append whole lines to, such as a trail for a SIEM. Lines wait in
// memory and are written together, ten times a second or when there are many; where the disk or a
// pipe's reader is slow they wait on, up to a bound, and only then is a line refused.
//
// Guarantees: a line is never mixed with another one; an accepted one is written once the disk
// takes it, while this process lives. Rotation loses none: the file is opened anew within a second,
// and until then lines go to the renamed one.
//
// The one catch is a disk that takes half a line and then fails, or a process that is killed
// between the halves: the half stays, on a line of its own, and the whole line follows. Every
// writer looks at the file's last byte first, for the half may be another process's. Two that see
// it at the same moment both end it, which leaves an empty line.

import { type FileHandle, open, stat } from 'node:fs/promises'
import { constants, write } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { outputTarget } from './atomic-file.ts'

export type LineFile = ReturnType<typeof openLineFile>

const flushMs = 100
const flushBytes = 65_536
const identityMs = 1000
/** A pipe takes this much whole or not at all (PIPE_BUF), so that lines of processes stay whole. */
const pipeBytesMax = 4096

/** A write under way can look like a half; it is over by then. */
const settleMs = 10
const settlesMax = 10

interface Target {
  readonly write: (bytes: Uint8Array) => Promise<number>
  readonly bytesMax: number
  /** `undefined` where only the writer can know. */
  readonly endsMidLine: () => Promise<boolean | undefined>
  readonly close: () => Promise<void>
}

const writeTo = promisify(write) as unknown as (
  descriptor: number,
  bytes: Uint8Array,
) => Promise<{ readonly bytesWritten: number }>

export function openLineFile(options: {
  /** `-` is standard output. */
  readonly path: string
  readonly waitingBytesMax: number
  /** Not again before `onRecovery`. */
  readonly onTrouble: (error: unknown) => void
  readonly onRecovery: () => void
}) {
  const target = options.path === '-' ? standardOutput() : namedFile(options.path)
  let lines: string[] = []
  /** What the disk has not taken, whole lines; older than `lines`. */
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
      // A pipe that is full is no trouble: its reader is slow.
      const isFull = (fault as NodeJS.ErrnoException).code === 'EAGAIN'
      if (!failing && !isFull) options.onTrouble(fault)
      failing ||= !isFull
    }
  }
  /** What the disk does not take waits on. */
  const flush = (): Promise<void> => {
    writing ??= writeAll().finally(() => (writing = undefined))
    return writing
  }
  const timer = setInterval(() => void flush(), flushMs)
  timer.unref()
  return {
    flush,
    /** Without its end; false where there is no room, and the line is lost. */
    append: (line: string): boolean => {
      const bytes = Buffer.byteLength(line) + 1
      if (rest.length + lineBytes + bytes > options.waitingBytesMax) return false
      lines.push(line)
      lineBytes += bytes
      if (lineBytes >= flushBytes) void flush()
      return true
    },
    /** Writes once what waits, and closes; returns how many lines were lost. */
    close: async (): Promise<number> => {
      clearInterval(timer)
      // One that is under way may have begun before the last lines.
      await writing
      await flush()
      await target.close()
      return countLines(rest)
    },
  }
}

/** `rest` begins with a whole line, of which `half` was written. */
function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) count += 1
  return count
}

const newline = 0x0a

/** `rest` begins with a whole line, of which `half` says whether a part was written. */
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

function standardOutput(): Target {
  return {
    bytesMax: pipeBytesMax,
    endsMidLine: async () => undefined,
    write: async (bytes) => (await writeTo(1, bytes)).bytesWritten,
    close: async () => undefined,
  }
}

const { O_APPEND, O_CREAT, O_NOCTTY, O_NONBLOCK, O_RDWR, O_WRONLY } = constants
/** Non-blocking: a plain open of a pipe waits for its reader, and no signal interrupts it. */
const appendFlags = O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY

/** Read access to a pipe would make it seem to have a reader; a file may not be readable. */
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
    // Somebody has emptied it meanwhile, or all is well.
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
