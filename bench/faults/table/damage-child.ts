// The child of bench/faults/table/broken-tables.ts: damages a table file in one way after another,
// asks `verifyTable` and `openTable` about each, and repairs it. A child, because what a broken
// file does to a process that maps it may be a signal, which only its parent can see.
//
//   damage-child.js FILE STEP SEED COUNT
//
// STEP is the distance of flipped bits in bytes, 0 for COUNT random ones, and one in each section
// and a cut before it. It says each damage before it tries it, and what came of it afterwards, over
// the channel to its parent.

import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { IpriskError } from '../../../src/base/coded-error.ts'
import { trailerBytes } from '../../../src/schema/table-layout.ts'
import { sectionNames } from '../../../src/schema/table-sections.ts'
import { openTable } from '../../../src/table/open-table.ts'
import { verifyTable } from '../../../src/table/file/verify/verify-table.ts'
import { readTableView } from '../../../src/table/file/table-view.ts'
import type { DamageReport } from './broken-tables.ts'
import { newRandom } from '../../harness/random.ts'

/** Bytes that stand somewhere else than they should; `length` cuts the file or makes it longer. */
interface Damage {
  readonly name: string
  readonly patches: readonly { readonly offset: number; readonly bytes: Uint8Array }[]
  readonly length?: number
  /** Nothing in the file says that it is damaged: it must only do no harm. */
  readonly forged?: boolean
}

const asked = ['9.1.2.3', '9.5.5.5', '11.0.0.1', '2a00::1', '2a01:db8::5', '255.0.0.1', '::']

function* damages(good: Uint8Array, step: number, seed: number, count: number): Generator<Damage> {
  const { headerBytes, views } = readTableView(good, 'good')
  const sections = sectionNames.map((name) => {
    const from = views[name].byteOffset - good.byteOffset
    return { name, from, to: from + views[name].byteLength }
  })
  const flip = (name: string, offset: number, mask: number): Damage => ({
    name: `${name}, byte ${offset} ^ ${mask}`,
    patches: [{ offset, bytes: Uint8Array.of((good[offset] ?? 0) ^ mask) }],
  })
  if (step === 0) {
    const random = newRandom(seed)
    for (let n = 0; n < count; n++) {
      yield flip('anywhere', random.below(good.length), 1 << random.below(8))
    }
    for (const { name, from, to } of sections) {
      if (to > from) yield flip(name, from + random.below(to - from), 1 << random.below(8))
      yield { name: `cut at ${from}, ${name}`, patches: [], length: from }
    }
    return
  }
  const thorough = step <= 4096
  const trailerFrom = good.length - trailerBytes
  for (let offset = 0; offset < headerBytes; offset++) {
    yield flip('header', offset, 1 << (offset % 8))
    if (thorough) yield flip('header', offset, 0xff)
  }
  for (let offset = trailerFrom; offset < good.length; offset++) {
    for (let bit = 0; bit < 8; bit += thorough ? 1 : 4) yield flip('trailer', offset, 1 << bit)
  }
  for (const { name, from, to } of sections) {
    for (let offset = from; offset < to; offset += step) {
      yield flip(name, offset, 1 << ((offset / step) % 8))
    }
    if (to > from) yield flip(name, to - 1, 0x80)
    yield* lengthsOf(good, name, from)
    for (const length of [from - 4, from - 1, from, from + 1, to - 1, to, to + 1]) {
      if (length < good.length) yield { name: `cut at ${length}, ${name}`, patches: [], length }
    }
  }
  for (const length of [0, 1, 31, 32, 33, headerBytes, good.length - 1, good.length + 1]) {
    yield { name: `cut or made longer to ${length}`, patches: [], length }
  }
  yield* swaps(good, thorough ? sections : sections.slice(0, 8))
  yield* forgeries(good, headerBytes, thorough ? 4 : 32)
}

/** The word before a section says how many elements it has. */
function* lengthsOf(good: Uint8Array, name: string, from: number): Generator<Damage> {
  const word = new DataView(good.buffer, good.byteOffset).getUint32(from - 4, true)
  for (const value of [0, 1, word - 1, word + 1, 2 * word, 0x7fff_ffff, 0xffff_ffff]) {
    const bytes = new Uint8Array(4)
    new DataView(bytes.buffer).setUint32(0, value >>> 0, true)
    if (value >>> 0 !== word) {
      yield { name: `${name} of ${value} elements`, patches: [{ offset: from - 4, bytes }] }
    }
  }
}

/** Each section with the beginning of the next one in its place, and the other way round. */
function* swaps(
  good: Uint8Array,
  sections: readonly { readonly name: string; readonly from: number; readonly to: number }[],
): Generator<Damage> {
  for (const left of sections) {
    for (const right of sections) {
      const bytes = Math.min(left.to - left.from, right.to - right.from)
      const [one, other] = [left, right].map(({ from }) => good.slice(from, from + bytes))
      if (left.from >= right.from || one === undefined || other === undefined) continue
      if (Buffer.compare(one, other) === 0) continue
      const patches = [
        { offset: left.from, bytes: other },
        { offset: right.from, bytes: one },
      ]
      yield { name: `${left.name} and ${right.name} swapped`, patches }
    }
  }
}

/** Words of the header that are absurd, below a checksum that fits them. */
function* forgeries(good: Uint8Array, headerBytes: number, step: number): Generator<Damage> {
  for (let offset = 0; offset + 4 <= headerBytes; offset += step) {
    for (const value of [0, 1, 0x7fff_ffff, 0xffff_fffc]) {
      const header = good.slice(0, headerBytes)
      new DataView(header.buffer).setUint32(offset, value, true)
      const sum = new Uint8Array(4)
      new DataView(sum.buffer).setUint32(0, crc32(header), true)
      const patches = [
        { offset, bytes: header.slice(offset, offset + 4) },
        { offset: good.length - 16, bytes: sum },
      ]
      yield { name: `a forged header, word ${offset} = ${value}`, patches, forged: true }
    }
  }
}

/** What came of it: refused by a coded error, or not. */
function tryOne(
  path: string,
  damage: Damage,
): { readonly verified: boolean; readonly fault: string } {
  let verified = true
  let fault = ''
  try {
    verifyTable(path)
  } catch (error) {
    verified = false
    if (!(error instanceof IpriskError)) fault = `verify threw ${String(error)}`
  }
  try {
    const table = openTable(path)
    for (const address of asked) {
      try {
        table.check(address)
      } catch {
        // An open table that nobody verified may fail to answer; it must not end the process.
      }
    }
    table.close()
  } catch (error) {
    if (!(error instanceof IpriskError)) fault = `open threw ${String(error)}`
  }
  if (verified && damage.forged !== true) fault = 'verify took it for whole'
  return { verified, fault }
}

function main([path = '', step = '0', seed = '1', count = '0']: readonly string[]): void {
  const good = new Uint8Array(readFileSync(path))
  const file = openSync(path, 'r+')
  const put = (offset: number, bytes: Uint8Array): void => {
    writeSync(file, bytes, 0, bytes.length, offset)
  }
  const tally = { tried: 0, refused: 0, forged: 0, forgedRefused: 0 }
  const faults: string[] = []
  for (const damage of damages(good, Number(step), Number(seed), Number(count))) {
    for (const { offset, bytes } of damage.patches) put(offset, bytes)
    if (damage.length !== undefined) ftruncateSync(file, damage.length)
    // Written, not sent: it must be out before a signal ends this process.
    writeSync(1, `${damage.name}\n`)
    const { verified, fault } = tryOne(path, damage)
    if (fault !== '') faults.push(`${damage.name}: ${fault}`)
    if (damage.forged === true) {
      tally.forged += 1
      if (!verified) tally.forgedRefused += 1
    } else {
      tally.tried += 1
      if (!verified) tally.refused += 1
    }
    for (const { offset, bytes } of damage.patches) {
      put(offset, good.subarray(offset, offset + bytes.length))
    }
    if (damage.length !== undefined) {
      ftruncateSync(file, Math.min(damage.length, good.length))
      put(Math.min(damage.length, good.length), good.subarray(damage.length))
    }
  }
  closeSync(file)
  verifyTable(path)
  process.send?.({ ...tally, faults } satisfies DamageReport)
}

main(process.argv.slice(2))
