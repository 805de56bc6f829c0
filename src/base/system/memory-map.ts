// The only file that maps memory: shared maps of whole files, read-only (`mapFile`) or writable
// with other processes (`mapSharedFile`).
//
// A read after `unmap`, a write to a view of `mapFile`, a file that shrinks under its map, or a
// write to a hole of a sparse file on a full disk ends the process (SIGSEGV, SIGBUS). So mapped
// files are never truncated or rewritten in place, writable ones have all their blocks, and a map
// is freed only when no view is in use. Sending a buffer to a thread copies it; `mapRegion` maps
// once, and each thread makes its own view.
//
// Read-only files are mapped into reusable slots of address space: a new ArrayBuffer of 200 MB
// triggers a garbage collection of 10 ms and more. A view that outlives `unmap` would show the next
// file.
//
// Slots are aligned to 2 MB, so that the system can use pages of that size (ext4 on Linux 6.18
// after large writes, or with MADV_HUGEPAGE). A random read in a table of 275 MB then took 45 ns
// instead of 76, 210 instead of 252 for dependent reads, and `populate` no time instead of 20 to 90
// ms.
//
// Atomics on `mapSharedFile` are exact across processes, although it is not a SharedArrayBuffer: V8
// emits the same instructions (test/account/limits/limiter.world.test.ts).

import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import koffi from 'koffi'
import { type IpriskError, messageOf, environmentError } from '../coded-error.ts'

const PROT_NONE = 0
const PROT_READ = 1
const PROT_WRITE = 2
const MAP_SHARED = 1
const MAP_PRIVATE = 2
const MAP_FIXED = 0x10
const MAP_ANONYMOUS = 0x20
const MAP_NORESERVE = 0x4000

const libc = koffi.load(null)
const mmap = libc.func(
  'void *mmap(void *addr, size_t length, int prot, int flags, int fd, long offset)',
)
const munmap = libc.func('int munmap(void *addr, size_t length)')

export interface MappedRegion {
  readonly address: bigint
  readonly bytes: number
}

export interface MappedFile {
  readonly bytes: Uint8Array
  /** Call off the serving loop. Best effort: older kernels cannot. */
  populate(): void
  /** Invalidates every view of `bytes`. */
  unmap(): void
}

/** Throws `file_unreadable` unless it is a non-empty regular file. */
export function mapFile(path: string): MappedFile {
  const { length, slot } = withRegularFile(path, { mode: 'r' }, (descriptor, length) => {
    const slot = claimSlot(length)
    const flags = MAP_SHARED | MAP_FIXED
    const mapped: unknown = mmap(slot.pointer, length, PROT_READ, flags, descriptor, 0)
    if (isFailed(mapped)) {
      // A refused map may leave a hole that others could fill.
      reserve(slot.pointer, slot.length)
      slot.free = true
      throw unreadable(path, 'the system refused to map it (mmap failed)')
    }
    madvise(slot.pointer, length, MADV_HUGEPAGE)
    return { length, slot }
  })
  const { pointer, buffer } = slot
  const bytes = new Uint8Array(buffer, 0, length)
  return mappedFile({ pointer, bytes }, () => {
    // Replaces the file by reserved address space.
    reserve(pointer, slot.length)
    slot.free = true
  })
}

function mappedFile(
  { pointer, bytes }: { readonly pointer: unknown; readonly bytes: Uint8Array },
  free: () => void,
): MappedFile {
  let live = true
  return {
    bytes,
    populate() {
      if (live) madvise(pointer, bytes.length, MADV_POPULATE_READ)
    },
    unmap() {
      if (live) free()
      live = false
    },
  }
}

/** Reading a slot without a map is a SIGSEGV. */
interface Slot {
  readonly pointer: unknown
  readonly length: number
  readonly buffer: ArrayBuffer
  free: boolean
}

/** Never freed: per file size, as many as were mapped at once, and a spare. */
const slots: Slot[] = []

/** Room for the next, slightly larger table. */
const slotRoom = 1.25
const slotUnit = 2 ** 21

/** Also keeps a spare slot for the next file. */
function claimSlot(length: number): Slot {
  const slot = freeSlot(length) ?? addSlot(length)
  slot.free = false
  try {
    if (freeSlot(length) === undefined) addSlot(length)
  } catch {
    // The next file tries again.
  }
  return slot
}

const freeSlot = (length: number): Slot | undefined => slots.find((slot) => isFree(slot, length))

/** A small file does not take a large slot. */
const isFree = ({ free, length: own }: Slot, length: number): boolean =>
  free && own >= length && own <= 2 * slotLength(length)

const slotLength = (length: number): number => Math.ceil((length * slotRoom) / slotUnit) * slotUnit

function addSlot(length: number): Slot {
  const own = slotLength(length)
  const pointer = reserveAligned(own)
  const slot = { pointer, length: own, buffer: koffi.view(pointer, own), free: true }
  slots.push(slot)
  return slot
}

/** `length` is a multiple of `slotUnit`; so is the result. */
function reserveAligned(length: number): unknown {
  const wide = reserve(null, length + slotUnit)
  const unit = BigInt(slotUnit)
  const address = koffi.address(wide)
  const before = (unit - (address % unit)) % unit
  const pointer = reserve(address + before, length)
  if (before > 0n) munmap(wide, Number(before))
  munmap(address + before + BigInt(length), Number(unit - before))
  return pointer
}

/** Reserves address space at `pointer` or anywhere. */
function reserve(pointer: unknown, length: number): unknown {
  const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (pointer === null ? 0 : MAP_FIXED)
  const reserved: unknown = mmap(pointer, length, PROT_NONE, flags, -1, 0)
  if (!isFailed(reserved)) return reserved
  throw environmentError(
    'memory_exhausted',
    `The system refused ${length} bytes of address space (mmap failed).`,
  )
}

const isFailed = (pointer: unknown): boolean => koffi.address(pointer) === 0xffff_ffff_ffff_ffffn

/**
 * Every process that maps the file sees writes, which survive the processes but not a crash of the
 * machine. Throws `file_unreadable` unless it is a regular file of exactly `bytes`, with all its
 * blocks (own-files.ts).
 */
export function mapSharedFile(path: string, bytes: number): MappedFile {
  const { pointer, length } = withRegularFile(path, { mode: 'r+', bytes }, (descriptor, length) => {
    const pointer: unknown = mmap(null, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    if (!isFailed(pointer)) return { pointer, length }
    throw unreadable(path, 'the system refused to map it (mmap failed)')
  })
  const view = new Uint8Array(koffi.view(pointer, length))
  return mappedFile({ pointer, bytes: view }, () => void munmap(pointer, length))
}

/** Maps a file without a view, until `unmapRegion`. Throws as `mapFile` does. */
export function mapRegion(path: string): MappedRegion {
  return withRegularFile(path, { mode: 'r' }, (descriptor, bytes) => {
    const pointer = reserveAligned(slotLength(bytes))
    const flags = MAP_SHARED | MAP_FIXED
    const isRefused = isFailed(mmap(pointer, bytes, PROT_READ, flags, descriptor, 0))
    const region = { address: koffi.address(pointer), bytes }
    if (isRefused) unmapRegion(region)
    if (isRefused) throw unreadable(path, 'the system refused to map it (mmap failed)')
    madvise(pointer, bytes, MADV_HUGEPAGE)
    return region
  })
}

export const viewRegion = ({ address, bytes }: MappedRegion): Uint8Array =>
  new Uint8Array(koffi.view(address, bytes))

export function unmapRegion({ address, bytes }: MappedRegion): void {
  munmap(address, slotLength(bytes))
}

/**
 * The file is open while `use` runs; maps outlive that. Throws `file_unreadable` unless it is a
 * non-empty regular file.
 */
export function withRegularFile<T>(
  path: string,
  how: { readonly mode: 'r' | 'r+'; readonly bytes?: number },
  use: (descriptor: number, length: number) => T,
): T {
  const { mode, bytes } = how
  let descriptor: number
  try {
    // Non-blocking, because of pipes without a writer. Never write through a symbolic link;
    // read-only tables may be one.
    const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants
    descriptor = openSync(path, O_NONBLOCK | (mode === 'r' ? O_RDONLY : O_RDWR | O_NOFOLLOW))
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
    return use(descriptor, stat.size)
  } finally {
    closeSync(descriptor)
  }
}

const unreadable = (path: string, why: string, cause?: unknown): IpriskError =>
  environmentError('file_unreadable', `${path} cannot be opened: ${why}`, { cause })

const MADV_HUGEPAGE = 14
/** Reads everything now; not before Linux 5.14. */
const MADV_POPULATE_READ = 22

/** `address`: a page-aligned pointer or bigint. Returns 0, or -1 on failure. */
const madvise = libc.func('int madvise(void *addr, size_t length, int advice)')

// Large pages for large arrays: a build fills gigabytes once, and each first touch of a page is a
// system call's cost. Linux uses them on request (`madvise` in
// /sys/kernel/mm/transparent_hugepage/enabled) or always.

export const pageBytes = 4096
const largeBytesMin = 2 ** 22

/** `array` must be new: only untouched memory is affected. */
export function inLargePages<T extends ArrayBufferView>(array: T): T {
  if (process.platform !== 'linux' || array.byteLength < largeBytesMin) return array
  const before = (pageBytes - offsetInPage(array)) % pageBytes
  const whole = array.byteLength - before
  madvise(koffi.address(array) + BigInt(before), whole - (whole % pageBytes), MADV_HUGEPAGE)
  return array
}

export const offsetInPage = (array: ArrayBufferView): number =>
  Number(koffi.address(array) % BigInt(pageBytes))
