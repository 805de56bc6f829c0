// The rate file: one slot per key and rate limit, in memory of all workers: a hash table with open
// addressing and lock-free insertion. rate.ts counts in a slot.
//
//   <state>/rates/<boot id>.map         little-endian words of 32 bits
//     0   magic "irkr", format, slots, how many are used       the rest of 4096 bytes is 0
//     1024 + 4 × slot:  key high │ key low │ full at │ 0
//
// "key" is 62 bits of a hash of the key's id and limit; zero: the slot is free. A process takes a
// free slot by a compare-and-swap of the high, then the low word; if it dies in between, the next
// key with those high bits gets the slot.
//
// Invariants: a slot is never freed or moved, so indexes stay valid; the file is created under
// another name and linked, and never truncated. After a reboot another file is used and old ones
// are removed. Losing the file costs one burst per key.

import { createHash, randomUUID } from 'node:crypto'
import { linkSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, environmentError } from '../../base/coded-error.ts'
import { rateKeysMax, rateSlots } from '../../base/limits.ts'
import { createZeroFile, makeOwnFolder } from '../../base/system/own-files.ts'
import { type MappedFile, mapSharedFile } from '../../base/system/memory-map.ts'
import type { Rate } from '../../config/plan.ts'

const magic = 0x726b_7269
const format = 1
const headerBytes = 4096
const headerWords = headerBytes / 4
const slotWords = 4
const usedWord = 3

const fullAtWord = 2

export type RateFile = ReturnType<typeof openRateFile>

const defaultSize = { slots: rateSlots as number, keysMax: rateKeysMax as number } as const
type RateFileSize = typeof defaultSize

const fileBytes = ({ slots }: RateFileSize): number => headerBytes + slots * slotWords * 4

/** Creates a missing file; safe for concurrent processes. Throws `rates_unusable`. */
export function openRateFile(
  state: string,
  { boot, size = defaultSize }: { readonly boot: string; readonly size?: RateFileSize },
) {
  const folder = join(state, 'rates')
  const path = join(folder, `${boot}.map`)
  try {
    makeOwnFolder(folder)
    const isNew = createRateFile(folder, path, size)
    return { ...viewRateFile(path, mapSharedFile(path, fileBytes(size)), size), isNew }
  } catch (cause) {
    throw environmentError(
      'rates_unusable',
      `The rate limits cannot be kept in ${path}: ${messageOf(cause)}. Stop the server, remove ` +
        'that file and start again: it is recreated, and every key may spend one more burst.',
      { cause },
    )
  }
}

/** Removes files of older boots too. Returns false if the file exists. */
function createRateFile(folder: string, path: string, size: RateFileSize): boolean {
  const name = path.slice(folder.length + 1)
  const others = readdirSync(folder)
  if (others.includes(name)) return false
  const head = Buffer.alloc(headerBytes)
  head.writeInt32LE(magic, 0)
  head.writeInt32LE(format, 4)
  head.writeInt32LE(size.slots, 8)
  // Process ids of two containers may collide.
  const draft = join(folder, `${name}.${randomUUID()}.draft`)
  createZeroFile(draft, fileBytes(size), { head })
  try {
    linkSync(draft, path)
  } catch (error) {
    // Another process was faster, and may have removed this draft.
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['EEXIST', 'ENOENT'].includes(code)) throw error
  } finally {
    rmSync(draft, { force: true })
  }
  for (const other of others) {
    if (/\.(map|draft)$/.test(other)) rmSync(join(folder, other), { force: true })
  }
  return true
}

function viewRateFile(path: string, map: MappedFile, size: RateFileSize) {
  const words = new Int32Array(map.bytes.buffer, map.bytes.byteOffset, map.bytes.length / 4)
  if (words[0] !== magic || words[1] !== format || words[2] !== size.slots) {
    map.unmap()
    throw new Error('it is not a rate file of this version, or it is damaged')
  }
  return {
    path,
    words,
    /** Index in `words` of the counter of a key and limit; -1 if full. Not hot. */
    slotOf: (keyId: string, rate: Rate): number => findSlot(words, slotKey(keyId, rate), size),
    counts: () => ({ used: Atomics.load(words, usedWord), max: size.keysMax }),
    close: () => map.unmap(),
  }
}

/** Both words are never 0, which means free. */
function slotKey(keyId: string, { perSecond, burst }: Rate) {
  const hash = createHash('sha256').update(`${keyId} ${perSecond} ${burst}`).digest()
  return { high: hash.readInt32LE(0) | 1, low: hash.readInt32LE(4) | 1 }
}

function findSlot(words: Int32Array, key: ReturnType<typeof slotKey>, size: RateFileSize): number {
  let slot = (key.low >>> 1) % size.slots
  for (let looks = 0; looks < size.slots; looks += 1) {
    const index = headerWords + slot * slotWords
    const high = Atomics.load(words, index)
    if (high === 0) {
      if (Atomics.load(words, usedWord) >= size.keysMax) return -1
      const found = Atomics.compareExchange(words, index, 0, key.high)
      if (found === 0) Atomics.add(words, usedWord, 1)
      // Checked again below: another process may have taken it this moment.
    }
    if (Atomics.load(words, index) === key.high) {
      const low = Atomics.compareExchange(words, index + 1, 0, key.low)
      if (low === 0 || low === key.low) return index + fullAtWord
    }
    slot = (slot + 1) % size.slots
  }
  return -1
}
