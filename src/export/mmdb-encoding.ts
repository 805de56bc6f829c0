// The data section of an MMDB file (MaxMind DB 2.0), with pointers to earlier texts. The reader is
// build/mmdb; mmdb-records.ts says what records hold.
//
//   control byte   TTTSSSSS   type, size; type 0: one byte more has type - 7; size from 29: more bytes
//   pointer        001PPVVV   11, 19, 27 or 32 bits of an offset in the section

import type { GrowingBuffer } from '../bulk/growing-buffer.ts'
import { appendBytes, newGrowingBuffer, reserveBytes } from '../bulk/growing-buffer.ts'

export type MmdbValue =
  | string
  | boolean
  | readonly MmdbValue[]
  | MmdbMap
  | { readonly kind: 'uint'; readonly value: number }
  /** In the metadata, where libmaxminddb accepts nothing else. */
  | { readonly kind: 'uint16'; readonly value: number }
  | { readonly kind: 'double'; readonly value: number }
  | { readonly kind: 'at'; readonly offset: number }

/** Unknown members are absent: the format has no null. */
export interface MmdbMap {
  readonly kind: 'map'
  readonly members: readonly (readonly [key: string, value: MmdbValue])[]
}

export const uint = (value: number): MmdbValue => ({ kind: 'uint', value })
export const uint16 = (value: number): MmdbValue => ({ kind: 'uint16', value })
export const double = (value: number): MmdbValue => ({ kind: 'double', value })
export const map = (members: MmdbMap['members']): MmdbMap => ({ kind: 'map', members })

const types = {
  pointer: 1,
  string: 2,
  double: 3,
  uint16: 5,
  uint32: 6,
  map: 7,
  array: 11,
  boolean: 14,
}

/** Shorter texts are no longer than a pointer. */
const sharedBytesMin = 5

export type MmdbData = ReturnType<typeof newMmdbData>

export function newMmdbData() {
  const buffer = newGrowingBuffer()
  const texts = new Map<string, number>()
  return {
    /** Returns the offset at which the value begins. */
    add: (value: MmdbValue): number => {
      // Pointers lead backwards.
      share(value, buffer, texts)
      const offset = buffer.length
      append(value, buffer, texts)
      return offset
    },
    bytes: (): Uint8Array => buffer.bytes.subarray(0, buffer.length),
  }
}

/** Shares nothing, as in the metadata. */
export function encodeAlone(value: MmdbValue): Uint8Array {
  const buffer = newGrowingBuffer()
  append(value, buffer, new Map())
  return buffer.bytes.slice(0, buffer.length)
}

type Texts = Map<string, number>

const eight = new Uint8Array(8)
const eightBytes = new DataView(eight.buffer)

/** Writes the texts in it that are new. */
function share(value: MmdbValue, buffer: GrowingBuffer, texts: Texts): void {
  if (typeof value === 'boolean') return
  if (typeof value === 'string') {
    if (texts.has(value)) return
    const bytes = Buffer.from(value)
    if (bytes.length < sharedBytesMin) return
    texts.set(value, buffer.length)
    appendControl(types.string, bytes.length, buffer)
    appendBytes(buffer, bytes)
  } else if (isList(value)) {
    for (const element of value) share(element, buffer, texts)
  } else if (value.kind === 'map') {
    for (const [key, member] of value.members) {
      share(key, buffer, texts)
      share(member, buffer, texts)
    }
  }
}

const isList = (value: object): value is readonly MmdbValue[] => Array.isArray(value)

function append(value: MmdbValue, buffer: GrowingBuffer, texts: Texts): void {
  if (typeof value === 'boolean') appendControl(types.boolean, value ? 1 : 0, buffer)
  else if (typeof value === 'string') appendText(value, buffer, texts)
  else if (isList(value)) {
    appendControl(types.array, value.length, buffer)
    for (const element of value) append(element, buffer, texts)
  } else if (value.kind === 'map') {
    appendControl(types.map, value.members.length, buffer)
    for (const [key, member] of value.members) {
      appendText(key, buffer, texts)
      append(member, buffer, texts)
    }
  } else if (value.kind === 'at') appendPointer(value.offset, buffer)
  else if (value.kind === 'double') {
    eightBytes.setFloat64(0, value.value)
    appendControl(types.double, 8, buffer)
    appendBytes(buffer, eight)
  } else appendUint(types[value.kind === 'uint' ? 'uint32' : 'uint16'], value.value, buffer)
}

function appendText(text: string, buffer: GrowingBuffer, texts: Texts): void {
  const known = texts.get(text)
  if (known !== undefined) {
    appendPointer(known, buffer)
    return
  }
  const bytes = Buffer.from(text)
  appendControl(types.string, bytes.length, buffer)
  appendBytes(buffer, bytes)
}

/** Without leading zero bytes. */
function appendUint(type: number, value: number, buffer: GrowingBuffer): void {
  const zeros = value === 0 ? 4 : Math.clz32(value) >>> 3
  appendControl(type, 4 - zeros, buffer)
  for (let byte = zeros; byte < 4; byte++) appendByte(buffer, value >>> ((3 - byte) * 8))
}

function appendControl(type: number, size: number, buffer: GrowingBuffer): void {
  const code = size < 29 ? size : size < 285 ? 29 : size < 65_821 ? 30 : 31
  if (type > 7) {
    appendByte(buffer, code)
    appendByte(buffer, type - 7)
  } else appendByte(buffer, (type << 5) | code)
  if (code < 29) return
  const more = size - [29, 285, 65_821][code - 29]!
  for (let byte = code - 29; byte >= 0; byte--) appendByte(buffer, more >>> (byte * 8))
}

function appendByte(buffer: GrowingBuffer, value: number): void {
  reserveBytes(buffer, 1)
  buffer.bytes[buffer.length++] = value
}

/** In its shortest form; each longer one begins where the one before ends. */
function appendPointer(offset: number, buffer: GrowingBuffer): void {
  const code = types.pointer << 5
  if (offset < 2048) {
    appendHead(buffer, code | (offset >>> 8), offset, 1)
  } else if (offset < 526_336) {
    const rest = offset - 2048
    appendHead(buffer, code | 8 | (rest >>> 16), rest, 2)
  } else if (offset < 134_744_064) {
    const rest = offset - 526_336
    appendHead(buffer, code | 16 | (rest >>> 24), rest, 3)
  } else appendHead(buffer, code | 24, offset, 4)
}

/** A control byte, and the lowest `bytes` bytes of a number. */
function appendHead(buffer: GrowingBuffer, head: number, value: number, bytes: number): void {
  appendByte(buffer, head)
  for (let byte = bytes - 1; byte >= 0; byte--) appendByte(buffer, value >>> (byte * 8))
}

/** uint64: only in the metadata. */
export function encodeUint64(value: number): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  const from = bytes.findIndex((byte) => byte !== 0)
  const rest = from < 0 ? bytes.subarray(8) : bytes.subarray(from)
  return Uint8Array.from([rest.length, 2, ...rest])
}
