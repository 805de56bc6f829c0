// The one file that maps memory: shared maps of whole files, to read (`mapFile`) or to write
// together with other processes (`mapSharedFile`).
//
// A read after `unmap`, a write to the view of `mapFile`, or a file that shrinks under its map ends
// the process (SIGSEGV, SIGBUS); so does a write to a hole of a sparse file on a full disk. So
// mapped files are never truncated or rewritten in place, those to write have their blocks before
// they are mapped, and a map is freed only when no view of it is in use. Passing a buffer to a
// thread copies it; `mapRegion` maps once for all threads, each of which makes its own view.
//
// Files to read are mapped into slots of address space that are kept: a new ArrayBuffer of 200 MB
// makes V8 collect garbage, which stalls a serving loop for 10 ms and more. A slot is used again
// once its map is freed, so a view that outlives `unmap` would show the next file.
//
// Slots begin at a multiple of 2 MB, so that the system can map pages of that size (ext4 on Linux
// 6.18 after large writes, or reading under MADV_HUGEPAGE). A random read in a table of 275 MB then
// took 45 ns in place of 76, 210 in place of 252 where each waits for the one before, and
// `populate` no time in place of 20 to 90 ms.
//
// Atomics on a view of `mapSharedFile` are exact across processes, though the buffer is no
// SharedArrayBuffer: V8 emits the same instructions (test/account/limits/limiter.world.test.ts).

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

/** For all threads of this process. */
export interface MappedRegion {
  readonly address: bigint
  readonly bytes: number
}

export interface MappedFile {
  readonly bytes: Uint8Array
  /** Off the serving loop. Best effort: older kernels cannot. */
  populate(): void
  /** Frees the map. Every view of `bytes` is dead from here on. */
  unmap(): void
}

/** Throws `file_unreadable` for what is not a non-empty regular file. */
export function mapFile(path: string): MappedFile {
  const { length, slot } = withRegularFile(path, { mode: 'r' }, (descriptor, length) => {
    const slot = claimSlot(length)
    const flags = MAP_SHARED | MAP_FIXED
    const mapped: unknown = mmap(slot.pointer, length, PROT_READ, flags, descriptor, 0)
    if (isFailed(mapped)) {
      // A refused map may have taken away what lay there: a hole that others could fill.
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
    // In the place of the file: nothing, which stays ours.
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

/** Reading it where nothing is mapped is a SIGSEGV. */
interface Slot {
  readonly pointer: unknown
  readonly length: number
  readonly buffer: ArrayBuffer
  free: boolean
}

/** Never given back: for each size of files as many as were ever mapped at once, and a spare. */
const slots: Slot[] = []

/** So that the next, slightly larger table fits. */
const slotRoom = 1.25
const slotUnit = 2 ** 21

/** And leaves a spare one for the next file. */
function claimSlot(length: number): Slot {
  const slot = freeSlot(length) ?? addSlot(length)
  slot.free = false
  try {
    if (freeSlot(length) === undefined) addSlot(length)
  } catch {
    // The next file tries again, and fails if there is no memory for one.
  }
  return slot
}

function freeSlot(length: number): Slot | undefined {
  return slots.find((slot) => isFree(slot, length))
}

/** A small file does not take a large slot. */
function isFree({ free, length: own }: Slot, length: number): boolean {
  return free && own >= length && own <= 2 * slotLength(length)
}

function slotLength(length: number): number {
  return Math.ceil((length * slotRoom) / slotUnit) * slotUnit
}

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

/** Pages that cost nothing, at `pointer` or anywhere. */
function reserve(pointer: unknown, length: number): unknown {
  const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (pointer === null ? 0 : MAP_FIXED)
  const reserved: unknown = mmap(pointer, length, PROT_NONE, flags, -1, 0)
  if (!isFailed(reserved)) return reserved
  throw environmentError(
    'memory_exhausted',
    `The system refused ${length} bytes of address space (mmap failed).`,
  )
}

function isFailed(pointer: unknown): boolean {
  return koffi.address(pointer) === 0xffff_ffff_ffff_ffffn
}

/**
 * To read and write: every process that maps it sees writes, which outlive them all (not a crash of
 * the machine). Throws `file_unreadable` for what is not a regular file of exactly `bytes`, whose
 * blocks are all there (own-files.ts).
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

/**
 * Maps a file to read without a view of it, until `unmapRegion`. Throws `file_unreadable` as
 * `mapFile` does.
 */
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

/** In any thread of the process. */
export function viewRegion({ address, bytes }: MappedRegion): Uint8Array {
  return new Uint8Array(koffi.view(address, bytes))
}

export function unmapRegion({ address, bytes }: MappedRegion): void {
  munmap(address, slotLength(bytes))
}

/**
 * The file is open while `use` runs; a map outlives that. Throws `file_unreadable` for what is not
 * a non-empty regular file.
 */
export function withRegularFile<T>(
  path: string,
  how: { readonly mode: 'r' | 'r+'; readonly bytes?: number },
  use: (descriptor: number, length: number) => T,
): T {
  const { mode, bytes } = how
  let descriptor: number
  try {
    // A pipe without a writer would keep a plain open waiting for ever.
    // Never write through a symbolic link. Tables are only read, and may be one.
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

function unreadable(path: string, why: string, cause?: unknown): IpriskError {
  return environmentError('file_unreadable', `${path} cannot be opened: ${why}`, { cause })
}

/** In pages of 2 MB, where it can be. */
const MADV_HUGEPAGE = 14
/** Read all of it in now; Linux before 5.14 cannot. */
const MADV_POPULATE_READ = 22

/** `address`: a pointer or a bigint, of a whole page. 0, or -1 where the system cannot. */
const madvise = libc.func('int madvise(void *addr, size_t length, int advice)')

// Pages of 2 MB for large arrays: a build fills gigabytes once, and each page first touched is a
// trip to the system. Linux takes large pages where a process asks for them (`madvise` in
// /sys/kernel/mm/transparent_hugepage/enabled) or always.

export const pageBytes = 4096
const largeBytesMin = 2 ** 22

/** `array` must be just made: only memory not filled yet is affected. */
export function inLargePages<T extends ArrayBufferView>(array: T): T {
  if (process.platform !== 'linux' || array.byteLength < largeBytesMin) return array
  const before = (pageBytes - offsetInPage(array)) % pageBytes
  const whole = array.byteLength - before
  madvise(koffi.address(array) + BigInt(before), whole - (whole % pageBytes), MADV_HUGEPAGE)
  return array
}

export function offsetInPage(array: ArrayBufferView): number {
  return Number(koffi.address(array) % BigInt(pageBytes))
}
