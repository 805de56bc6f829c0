// Format `list`: one address, prefix or range a line; comments with # and ;, also behind an entry.
// `a - b` may be written with blanks. It knows the shape only: `999.1.1.1` is an entry here, and
// normalise refuses it. A line of several words is dropped, because guessing which of them is meant
// would let a changed format in unnoticed.

import type { Parser } from './entry.ts'
import { noOptions } from './format-options.ts'
import { parseLines } from './parse-lines.ts'

const shape = /^[0-9A-Fa-f:.]+(?:\/[0-9.]+|-[0-9A-Fa-f:.]+)?$/

/** `a - b` as `a-b`. */
function joinEnds(text: string): string {
  const dash = text.indexOf('-')
  const first = text.slice(0, dash).trimEnd()
  const last = text.slice(dash + 1).trimStart()
  const isSpaced = dash > first.length && dash + 1 + last.length < text.length
  return isSpaced ? `${first}-${last}` : text
}

export const parseList: Parser = async (chunks, sink, options) => {
  noOptions(options)
  await parseLines(chunks, sink, (text, place, comment) => {
    const end = text.search(/[#;]/)
    if (end >= 0) comment(text.slice(end))
    const entry = joinEnds((end < 0 ? text : text.slice(0, end)).trim())
    if (entry === '') return
    if (/\s/.test(entry)) sink.drop('several words', place, text)
    else if (!shape.test(entry)) sink.drop('no address, prefix or range', place, text)
    else sink.entry({ text: entry, place })
  })
}
