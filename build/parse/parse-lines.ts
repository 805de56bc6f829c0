// What all formats of lines share: the place of a line, lines that are too long, and the day that a
// comment states. What a line means is the format's own.

import { cutLines } from './cut-lines.ts'
import type { EntrySink } from './entry.ts'
import { statedInComment } from './stated-day.ts'

/** One line as it stands; it calls `comment` with what is a comment, or may be one. */
export type ParseLine = (text: string, place: string, comment: (text: string) => void) => void

/** Hands every line to `parse`. The first day that a comment states goes to `sink`. */
export async function parseLines(
  chunks: AsyncIterable<Uint8Array>,
  sink: EntrySink,
  parse: ParseLine,
): Promise<void> {
  let stated = false
  const comment = (text: string): void => {
    const day = stated ? undefined : statedInComment(text)
    if (day === undefined) return
    stated = true
    sink.stated(day)
  }
  await cutLines(chunks, {
    line: (text, number) => parse(text, `line ${number}`, comment),
    tooLong: (number, start) => sink.drop('line too long', `line ${number}`, start),
  })
}
