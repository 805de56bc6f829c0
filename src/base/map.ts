// The one file that maps memory: shared maps of whole files, through the C library, to read
// (`mapFile`) or to write together with other processes (`mapShared`).
//
// What a caller must know: a read after `unmap`, a write to the view of `mapFile`, or a file that
// shrinks under its map ends the process (SIGSEGV, SIGBUS); so does a write to a hole of a sparse
// file on a full disk. So mapped files are never truncated or rewritten in place, those to write
// have their blocks before they are mapped, and a map is freed only when nobody holds a view.
// Passing the buffer to a thread copies it: each thread maps for itself.
//
// Atomics on a view of `mapShared` are exact across processes, though the buffer is no
// SharedArrayBuffer: V8 emits the same locked instructions (test/account/rate.process.test.ts).

import { closeSync, fstatSync, openSync } from 'node:fs'
import koffi from 'koffi'
import { IpriskError, messageOf } from './error.ts'

const PROT_READ = 1
const PROT_WRITE = 2
const MAP_SHARED = 1
const MADV_POPULATE_READ = 22

const libc = koffi.load(null)
const mmap = libc.func(
  'void *mmap(void *addr, size_t length, int prot, int flags, int fd, long offset)',
)
const munmap = libc.func('int munmap(void *addr, size_t length)')
const madvise = libc.func('int madvise(void *addr, size_t length, int advice)')

/** Where a map lies in this process, for all its threads. */
export interface MapPlace {
  readonly address: bigint
  readonly bytes: number
}

export interface MappedFile {
  readonly path: string
  readonly place: MapPlace
  /** The whole file; reading costs page faults, never a copy. */
  readonly bytes: Uint8Array
  /** Reads every page into memory now (off the serving loop). Best effort: older kernels cannot. */
  populate(): void
  /** Frees the map. Every view of `bytes` is dead from here on. */
  unmap(): void
}

/** Maps `path` whole. Throws `file_unreadable` for what is not a non-empty regular file. */
export function mapFile(path: string): MappedFile {
  return viewOf(path, mapDescriptor(path, 'r'))
}

/**
 * Maps `path` whole to read and write: what is written is seen by every process that maps it, and
 * outlives them all (not a crash of the machine). Throws `file_unreadable` for what is not a
 * regular file of exactly `bytes`, which the caller has written out: it is not made here.
 */
export function mapShared(path: string, bytes: number): MappedFile {
  return viewOf(path, mapDescriptor(path, 'r+', bytes))
}

interface Mapped {
  readonly pointer: unknown
  readonly length: number
}

function viewOf(path: string, { pointer, length }: Mapped): MappedFile {
  let live = true
  return {
    path,
    place: { address: koffi.address(pointer), bytes: length },
    bytes: new Uint8Array(koffi.view(pointer, length)),
    populate() {
      if (live) madvise(pointer, length, MADV_POPULATE_READ)
    },
    unmap() {
      if (!live) return
      live = false
      munmap(pointer, length)
    },
  }
}

/** Frees the map of a thread that has died: no view of it is left, and nobody else frees it. */
export function unmapPlace({ address, bytes }: MapPlace): void {
  munmap(address, bytes)
}

function mapDescriptor(path: string, mode: 'r' | 'r+', bytes?: number): Mapped {
  let descriptor: number
  try {
    descriptor = openSync(path, mode)
  } catch (cause) {
    throw unreadable(path, messageOf(cause), cause)
  }
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) throw unreadable(path, 'it is not a regular file')
    if (stat.size === 0) throw unreadable(path, 'it is empty')
    if (bytes !== undefined && stat.size !== bytes) {
      throw unreadable(path, `it has ${stat.size} bytes, not ${bytes}`)
    }
    const protection = mode === 'r' ? PROT_READ : PROT_READ | PROT_WRITE
    const pointer: unknown = mmap(null, stat.size, protection, MAP_SHARED, descriptor, 0)
    if (koffi.address(pointer) === 0xffff_ffff_ffff_ffffn) {
      throw unreadable(path, 'the system refused to map it (mmap failed)')
    }
    return { pointer, length: stat.size }
  } finally {
    closeSync(descriptor)
  }
}

function unreadable(path: string, why: string, cause?: unknown): IpriskError {
  return new IpriskError({
    code: 'file_unreadable',
    message: `${path} cannot be opened: ${why}`,
    fault: 'environment',
    cause,
  })
}
