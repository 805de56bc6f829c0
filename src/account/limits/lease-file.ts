// A worker's lease file: what its leases hold, in memory that outlives it. After a kill, another
// worker returns the units to the ledger.
//
//   <state>/leases/<boot id> <random>.map    32 bytes a slot, little-endian
//     units │ month │ the key's id, 24 bytes, the rest 0
//   <state>/leases/<boot id> <random>.lock   locked for as long as the worker lives (flock)
//
// Slot 0 belongs to no key: leases without a slot write there, without a branch.
//
// Invariants: a slot never holds more units than its lease: it grows after the ledger has counted
// them, and shrinks before a request is answered, so spent units are never returned. Only the
// holder of a file's lock reads it, and removes it before returning units. Files of an earlier boot
// may be stale and are removed unread. A death still loses units in transit, and those of keys
// beyond `leaseSlots`.

import { randomUUID } from 'node:crypto'
import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { acquireFileLock } from '../../base/system/file-lock.ts'
import { createZeroFile, makeOwnFolder } from '../../base/system/own-files.ts'
import { mapSharedFile } from '../../base/system/memory-map.ts'
import type { Month } from './quota-period.ts'

/** Keys in use within `leaseIdleMs`; a death loses the leases of further keys. */
const leaseSlots = 32_768

const slotBytes = 32
const slotWords = slotBytes / 4
const monthWord = 1
const idByte = 8
const idBytesMax = slotBytes - idByte

/** For leases without a slot; never read. */
export const noLeaseSlot = 0

export type HeldUnits = ReturnType<typeof heldUnitsOf>[number]

export type LeaseFile = ReturnType<typeof openLeaseFile>

/** Throws the disk's error, or `file_unlockable`. */
export function openLeaseFile(
  state: string,
  { boot, slots = leaseSlots }: { readonly boot: string; readonly slots?: number },
) {
  const folder = join(state, 'leases')
  makeOwnFolder(folder)
  const name = `${boot} ${randomUUID()}`
  const lock = acquireFileLock(join(folder, `${name}.lock`))
  const path = join(folder, `${name}.map`)
  createZeroFile(path, slots * slotBytes)
  const { bytes } = mapSharedFile(path, slots * slotBytes)
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  const freed = Array.from({ length: slots - 1 }, (_, i) => (slots - 1 - i) * slotWords)
  return {
    /** `claim` returns the index of a lease's units. */
    words,
    /** The index of a key's units for a month; `noLeaseSlot` if all are taken. */
    claim: (keyId: string, month: number): number => {
      const id = Buffer.from(keyId)
      const index = id.length <= idBytesMax ? freed.pop() : undefined
      if (index === undefined) return noLeaseSlot
      words[index] = 0
      words[index + monthWord] = month
      bytes.fill(0, index * 4 + idByte, index * 4 + slotBytes)
      bytes.set(id, index * 4 + idByte)
      return index
    },
    free: (index: number): void => {
      words[index] = 0
      if (index !== noLeaseSlot) freed.push(index)
    },
    /** Returns what dead workers held and removes their files. */
    takeOver: (): readonly HeldUnits[] => takeOver(folder, boot),
    /** Call once all units are spent or returned. */
    close: (): void => {
      rmSync(path, { force: true })
      // The map stays: a late request may still write to it.
      lock?.release()
    },
  }
}

function takeOver(folder: string, boot: string) {
  const held: HeldUnits[] = []
  for (const file of readdirSync(folder)) {
    if (!file.endsWith('.map')) continue
    const name = file.slice(0, -'.map'.length)
    // Its worker is alive, or another process is taking it over.
    const lock = acquireFileLock(join(folder, `${name}.lock`))
    if (lock === undefined) continue
    const path = join(folder, file)
    try {
      if (name.startsWith(`${boot} `) && boot !== 'unknown') held.push(...heldUnitsOf(path))
      rmSync(path, { force: true })
    } finally {
      lock.release()
    }
  }
  return held
}

/** Empty if another process has taken it over. */
function heldUnitsOf(path: string) {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  const held: { readonly keyId: string; readonly month: Month; readonly units: number }[] = []
  for (let at = slotBytes; at + slotBytes <= bytes.length; at += slotBytes) {
    const units = bytes.readInt32LE(at)
    if (units <= 0) continue
    const month = bytes.readInt32LE(at + monthWord * 4) as Month
    const id = bytes.subarray(at + idByte, at + slotBytes)
    const length = id.indexOf(0)
    held.push({ keyId: id.toString('utf8', 0, length < 0 ? idBytesMax : length), month, units })
  }
  return held
}
