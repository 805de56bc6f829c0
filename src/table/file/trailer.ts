// The trailer: the last 32 bytes of a table file. It detects truncation, and makes the header safe
// for FlatBuffers accessors.
//
//   offset  0        8          12           16          20          24
//           magic    file bytes header bytes header crc  major       zero
//           8 chars  u32        u32          u32         u32         u64

import { crc32 } from 'node:zlib'
import { fileBytesMax, formatMajor, trailerBytes, trailerMagic } from '../../schema/table-layout.ts'
import { checksumMismatch, otherVersion, tableCorrupt } from './table-corrupt.ts'

/** The FlatBuffers header is [0, headerBytes); sections follow. */
type Trailer = Readonly<Record<'fileBytes' | 'headerBytes' | 'headerCrc' | 'major', number>>

export function writeTrailer(trailer: Trailer): Uint8Array {
  const bytes = new Uint8Array(trailerBytes)
  const view = new DataView(bytes.buffer)
  bytes.set(Buffer.from(trailerMagic, 'latin1'))
  view.setUint32(8, trailer.fileBytes, true)
  view.setUint32(12, trailer.headerBytes, true)
  view.setUint32(16, trailer.headerCrc, true)
  view.setUint32(20, trailer.major, true)
  return bytes
}

export function readTrailer(bytes: Uint8Array, path: string): Trailer {
  const fail = (section: 'trailer' | 'header', offset: number, why: string): never => {
    throw tableCorrupt(path, section, offset, why)
  }
  const { length } = bytes
  if (length < trailerBytes + 8) fail('trailer', 0, `the file has only ${length} bytes`)
  if (length > fileBytesMax) {
    fail('trailer', 0, `the file has ${length} bytes, over ${fileBytesMax}`)
  }
  const offset = length - trailerBytes
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, trailerBytes)
  const magic = Buffer.from(bytes.subarray(offset, offset + 8)).toString('latin1')
  if (magic !== trailerMagic) {
    fail('trailer', offset, 'it does not end like a table (truncated, or not a table file)')
  }
  const [fileBytes, headerBytes, headerCrc, major] = [8, 12, 16, 20].map((at) =>
    view.getUint32(at, true),
  ) as [number, number, number, number]
  if (major !== formatMajor) throw otherVersion(path, `format version ${major}`, 'trailer')
  if (fileBytes !== length) {
    fail('trailer', offset + 8, `it states ${fileBytes} bytes, but the file has ${length}`)
  }
  if (view.getBigUint64(24) !== 0n) {
    fail('trailer', offset + 24, 'reserved bytes are not zero')
  }
  if (headerBytes < 8 || headerBytes > length - trailerBytes) {
    fail('header', 0, `its length ${headerBytes} is outside the file`)
  }
  const found = crc32(bytes.subarray(0, headerBytes))
  if (found !== headerCrc) fail('header', 0, checksumMismatch({ expected: headerCrc, found }))
  return { fileBytes, headerBytes, headerCrc, major }
}
