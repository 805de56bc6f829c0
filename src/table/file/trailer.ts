// The trailer: the last 32 bytes of a table file. It makes a cut-off file known at once and lets
// the header be trusted before a FlatBuffers accessor touches it.
//
//   offset  0        8          12           16          20          24
//           magic    file bytes header bytes header crc  major       zero
//           8 chars  u32        u32          u32         u32         u64
//
// Not a place for facts about the data: those are in the header.

import { crc32 } from 'node:zlib'
import { IpriskError } from '../../base/coded-error.ts'
import { fileBytesMax, formatMajor, trailerBytes, trailerMagic } from '../../schema/table-layout.ts'

interface Trailer {
  readonly fileBytes: number
  /** The FlatBuffers header lies in [0, headerBytes); the sections follow. */
  readonly headerBytes: number
  readonly headerCrc: number
  readonly major: number
}

/** The inverse of `readTrailer`. */
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

/**
 * Reads and checks the trailer and the header's checksum. Throws `table_corrupt`, `table_version`.
 */
export function readTrailer(bytes: Uint8Array, path: string): Trailer {
  if (bytes.length < trailerBytes + 8) {
    throw tableCorrupt(path, 'trailer', 0, `the file has only ${bytes.length} bytes`)
  }
  if (bytes.length > fileBytesMax) {
    throw tableCorrupt(
      path,
      'trailer',
      0,
      `the file has ${bytes.length} bytes, over ${fileBytesMax}`,
    )
  }
  const offset = bytes.length - trailerBytes
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, trailerBytes)
  const magic = Buffer.from(bytes.subarray(offset, offset + 8)).toString('latin1')
  if (magic !== trailerMagic) {
    throw tableCorrupt(
      path,
      'trailer',
      offset,
      'it does not end as a table does (cut off, or no table)',
    )
  }
  const trailer = {
    fileBytes: view.getUint32(8, true),
    headerBytes: view.getUint32(12, true),
    headerCrc: view.getUint32(16, true),
    major: view.getUint32(20, true),
  }
  if (trailer.major !== formatMajor)
    throw otherVersion(path, `format version ${trailer.major}`, 'trailer')
  if (trailer.fileBytes !== bytes.length) {
    const why = `it says ${trailer.fileBytes} bytes, the file has ${bytes.length}`
    throw tableCorrupt(path, 'trailer', offset + 8, why)
  }
  if (view.getUint32(24, true) !== 0 || view.getUint32(28, true) !== 0) {
    throw tableCorrupt(path, 'trailer', offset + 24, 'reserved bytes are not zero')
  }
  checkHeader(bytes, trailer, path)
  return trailer
}

function checkHeader(bytes: Uint8Array, trailer: Trailer, path: string): void {
  if (trailer.headerBytes < 8 || trailer.headerBytes > bytes.length - trailerBytes) {
    throw tableCorrupt(path, 'header', 0, `its length ${trailer.headerBytes} is outside the file`)
  }
  const crc = crc32(bytes.subarray(0, trailer.headerBytes))
  if (crc !== trailer.headerCrc) {
    throw tableCorrupt(
      path,
      'header',
      0,
      checksumMismatch({ expected: trailer.headerCrc, found: crc }),
    )
  }
}

/** Words for a checksum that does not match. */
export function checksumMismatch(crc: {
  readonly expected: number
  readonly found: number
}): string {
  const hex = (value: number): string => value.toString(16).padStart(8, '0')
  return `its checksum is ${hex(crc.found)}, not ${hex(crc.expected)}: bytes were changed`
}

/** How a message of `table_corrupt` ends. */
export const rebuildHint = 'Build the table again (iprisk build) or take another copy.'

/** A damaged table: names the section and the byte offset in the file. */
export function tableCorrupt(
  path: string,
  section: string,
  offset: number,
  why: string,
): IpriskError {
  return new IpriskError({
    code: 'table_corrupt',
    message: `${path} is damaged in section ${section} at offset ${offset}: ${why}. ` + rebuildHint,
    fault: 'input',
  })
}

/** A table of another version, by what it has: `format version 2`, `no section x`. */
export function otherVersion(path: string, has: string, section: string): IpriskError {
  return new IpriskError({
    code: 'table_version',
    message:
      `${path} has ${has}; this program reads version ${formatMajor} (section ${section}). ` +
      'Build the table again with this version (iprisk build).',
    fault: 'input',
  })
}
