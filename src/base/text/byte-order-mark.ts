// What a file's first bytes reveal: byte order marks, and compression.

export const byteOrderMarkBytes = 3

export type MarkedEncoding = 'utf-8' | 'utf-16le' | 'utf-16be'

export function markedEncodingOf([one, two, three]: Uint8Array): MarkedEncoding | undefined {
  if (one === 0xef && two === 0xbb && three === 0xbf) return 'utf-8'
  if (one === 0xff && two === 0xfe) return 'utf-16le'
  return one === 0xfe && two === 0xff ? 'utf-16be' : undefined
}

export const withoutByteOrderMark = (bytes: Uint8Array): Uint8Array =>
  markedEncodingOf(bytes) === 'utf-8' ? bytes.subarray(byteOrderMarkBytes) : bytes

/** UTF-8 unless marked otherwise; removes the mark. */
export const decodeText = (bytes: Uint8Array): string =>
  new TextDecoder(markedEncodingOf(bytes) ?? 'utf-8').decode(bytes)

/** Brotli has no magic number. */
export const packingMagics = {
  gzip: [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
  xz: [0xfd, 0x37, 0x7a, 0x58, 0x5a],
  bzip2: [0x42, 0x5a, 0x68],
  zip: [0x50, 0x4b, 0x03, 0x04],
  '7z': [0x37, 0x7a, 0xbc, 0xaf],
  lz4: [0x04, 0x22, 0x4d, 0x18],
} as const
