// The byte order mark that some programs, spreadsheets and PowerShell among them, write before
// UTF-8 and UTF-16.

export const byteOrderMarkBytes = 3

export type MarkedEncoding = 'utf-8' | 'utf-16le' | 'utf-16be'

export function markedEncodingOf([one, two, three]: Uint8Array): MarkedEncoding | undefined {
  if (one === 0xef && two === 0xbb && three === 0xbf) return 'utf-8'
  if (one === 0xff && two === 0xfe) return 'utf-16le'
  return one === 0xfe && two === 0xff ? 'utf-16be' : undefined
}

/** No copy. */
export function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  return markedEncodingOf(bytes) === 'utf-8' ? bytes.subarray(byteOrderMarkBytes) : bytes
}

/** UTF-8 unless a mark says otherwise; the mark goes. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder(markedEncodingOf(bytes) ?? 'utf-8').decode(bytes)
}
