// The byte order mark that some programs, spreadsheets among them, write before UTF-8. It belongs
// to no address, name or number.

export const byteOrderMarkBytes = 3

/** The same bytes without the mark that they begin with, where they do; no copy. */
export function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return isMarked ? bytes.subarray(byteOrderMarkBytes) : bytes
}

/** UTF-8 as text, without the mark. */
export function decodeUtf8(bytes: Uint8Array): string {
  const { buffer, byteOffset, byteLength } = withoutByteOrderMark(bytes)
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8')
}
