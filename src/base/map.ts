// The one file that maps memory. Read-only, shared maps of whole files, through the C library.
//
// What a caller must know: a read after `unmap`, a write to the view, or a file that shrinks under
// its map ends the process (SIGSEGV, SIGBUS). So tables are never truncated or rewritten in place,
// and a map is freed only when nobody holds a view. Passing the buffer to a thread copies it: each
// thread maps for itself.

import { closeSync, fstatSync, openSync } from 'node:fs'
import koffi from 'koffi'
import { IpriskError, messageOf } from './error.ts'

const PROT_READ = 1
const MAP_SHARED = 1
const MADV_POPULATE_READ = 22

const libc = koffi.load(null)
const mmap = libc.func(
  'void *mmap(void *addr, size_t length, int prot, int flags, int fd, long offset)',
)
const munmap = libc.func('int munmap(void *addr, size_t length)')
const madvise = libc.func('int madvise(void *addr, size_t length, int advice)')

export interface MappedFile {
  readonly path: string
  /** The whole file; reading costs page faults, never a copy. */
  readonly bytes: Uint8Array
  /** Reads every page into memory now (off the serving loop). Best effort: older kernels cannot. */
  populate(): void
  /** Frees the map. Every view of `bytes` is dead from here on. */
  unmap(): void
}

/** Maps `path` whole. Throws `file_unreadable` for what is not a non-empty regular file. */
export function mapFile(path: string): MappedFile {
  const { pointer, length } = mapDescriptor(path)
  let live = true
  return {
    path,
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

function mapDescriptor(path: string): { readonly pointer: unknown; readonly length: number } {
  let descriptor: number
  try {
    descriptor = openSync(path, 'r')
  } catch (cause) {
    throw unreadable(path, messageOf(cause), cause)
  }
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) throw unreadable(path, 'it is not a regular file')
    if (stat.size === 0) throw unreadable(path, 'it is empty')
    const pointer: unknown = mmap(null, stat.size, PROT_READ, MAP_SHARED, descriptor, 0)
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
