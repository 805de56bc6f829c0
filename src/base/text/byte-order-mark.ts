// The byte order mark that some programs, spreadsheets among them, write before UTF-8.

export const byteOrderMarkBytes = 3

/** No copy. */
export function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return isMarked ? bytes.subarray(byteOrderMarkBytes) : bytes
}

export function decodeUtf8(bytes: Uint8Array): string {
  const { buffer, byteOffset, byteLength } = withoutByteOrderMark(bytes)
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8')
}
