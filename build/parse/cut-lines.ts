// Cuts a stream of bytes into lines: UTF-8 with or without byte order mark, LF or CRLF. Holds one
// line at most; a line over the limit is reported once and skipped.

import { wrongFormat } from './parse-counts.ts'

/** VPN Gate's lines have some 9,000 characters; all others are under 4,096. */
export const lineCharactersMax = 32_768

export interface LineReader {
  /** `number` counts from 1; `text` has no line end. */
  line(text: string, number: number): void
  tooLong(number: number, start: string): void
}

/**
 * Throws `not_this_format` if the first non-blank line is HTML, JSON or compressed: feeds mostly
 * break by an error page with status 200.
 */
export async function cutLines(
  chunks: AsyncIterable<Uint8Array>,
  reader: LineReader,
): Promise<void> {
  const decoder = new TextDecoder('utf-8')
  let rest = ''
  let number = 1
  let skipping = false
  let begun = false

  const finish = (text: string): void => {
    if (skipping) {
      skipping = false
    } else if (text.length > lineCharactersMax) {
      reader.tooLong(number, text)
    } else {
      const line = text.endsWith('\r') ? text.slice(0, -1) : text
      if (!begun && line.trim() !== '') {
        begun = true
        refuseForeign(line, number)
      }
      reader.line(line, number)
    }
    number++
  }

  const take = (text: string): void => {
    let start = 0
    for (;;) {
      const end = text.indexOf('\n', start)
      if (end < 0) break
      finish(rest + text.slice(start, end))
      rest = ''
      start = end + 1
    }
    rest += text.slice(start)
    if (rest.length > lineCharactersMax && !skipping) {
      if (!begun) refuseForeign(rest, number)
      begun = true
      reader.tooLong(number, rest)
      skipping = true
    }
    // While skipping, only the line end matters.
    if (skipping) rest = ''
  }

  for await (const chunk of chunks) take(decoder.decode(chunk, { stream: true }))
  take(decoder.decode())
  if (rest !== '') finish(rest)
}

function refuseForeign(line: string, number: number): void {
  const start = line.trimStart()
  if (start.startsWith('<')) throw wrongFormat(`line ${number}`, 'looks like HTML', start)
  if (start.startsWith('{')) throw wrongFormat(`line ${number}`, 'looks like JSON', start)
  if (start.startsWith('\u001f')) throw wrongFormat(`line ${number}`, 'is compressed', start)
}
