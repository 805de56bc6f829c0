// Encodes the data section of an MMDB file (MaxMind DB 2.0), with pointers to earlier texts. The
// reader is build/mmdb; mmdb-records.ts defines the records.
//
//   control byte   TTTSSSSS   type, size; type 0: one more byte, type - 7; size ≥ 29: more bytes
//   pointer        001PPVVV   11, 19, 27 or 32 bits of an offset in the section

import {
  type GrowingBuffer,
  appendBytes,
  newGrowingBuffer,
  reserveBytes,
} from '../bulk/growing-buffer.ts'

export type MmdbValue =
  | string
  | boolean
  | readonly MmdbValue[]
  /** The format has no null: unknown members are absent. */
  | { readonly kind: 'map'; readonly members: readonly (readonly [string, MmdbValue])[] }
  | { readonly kind: 'uint16' | 'uint32' | 'uint64' | 'double'; readonly value: number }
  | { readonly kind: 'at'; readonly offset: number }

type MmdbMap = Extract<MmdbValue, { readonly kind: 'map' }>

export const uint = (value: number): MmdbValue => ({ kind: 'uint32', value })
/** libmaxminddb accepts no other type in the metadata. */
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
  uint64: 9,
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
    add: (value: MmdbValue): number => {
      const offset = buffer.length
      append(value, buffer, texts)
      return offset
    },
    bytes: (): Uint8Array => buffer.bytes.subarray(0, buffer.length),
  }
}

/** Without pointers, for the metadata. */
export function encodeAlone(value: MmdbValue): Uint8Array {
  const buffer = newGrowingBuffer()
  append(value, buffer)
  return buffer.bytes.slice(0, buffer.length)
}

type Texts = Map<string, number>

const eight = new Uint8Array(8)
const eightBytes = new DataView(eight.buffer)

const isList = (value: object): value is readonly MmdbValue[] => Array.isArray(value)

function append(value: MmdbValue, buffer: GrowingBuffer, texts?: Texts): void {
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
  } else appendUint(types[value.kind], value.value, buffer)
}

function appendText(text: string, buffer: GrowingBuffer, texts?: Texts): void {
  const known = texts?.get(text)
  if (known !== undefined) {
    appendPointer(known, buffer)
    return
  }
  const bytes = Buffer.from(text)
  if (bytes.length >= sharedBytesMin) texts?.set(text, buffer.length)
  appendControl(types.string, bytes.length, buffer)
  appendBytes(buffer, bytes)
}

/** Without leading zero bytes. */
function appendUint(type: number, value: number, buffer: GrowingBuffer): void {
  let bytes = 0
  while (value >= 256 ** bytes) bytes++
  appendControl(type, bytes, buffer)
  for (let byte = bytes - 1; byte >= 0; byte--) appendByte(buffer, Math.floor(value / 256 ** byte))
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

/** In the shortest of four forms; each range begins where the shorter one's ends. */
function appendPointer(offset: number, buffer: GrowingBuffer): void {
  const form = offset < 2048 ? 0 : offset < 526_336 ? 1 : offset < 134_744_064 ? 2 : 3
  const rest = offset - [0, 2048, 526_336, 0][form]!
  const high = form === 3 ? 0 : rest >>> (8 * (form + 1))
  appendByte(buffer, (types.pointer << 5) | (form << 3) | high)
  for (let byte = form; byte >= 0; byte--) appendByte(buffer, rest >>> (byte * 8))
}
